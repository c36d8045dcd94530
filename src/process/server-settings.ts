import { serverBodyBytesMax } from "./limits.ts";

/** How Bun's server serves, whatever it listens on. */
export const serverSettings = {
  /** The most that Bun takes, in seconds; what is bounded closer is bounded by whoever answers. */
  idleTimeout: 255,
  maxRequestBodySize: serverBodyBytesMax,
  // Without NODE_ENV=production Bun would print the error that a stream is broken off with, its source beside it, into the midst of
  // the log, whose lines are JSON. What a person is to know of it is logged where it happens.
  development: false,
};
