import { serverBodyBytesMax } from "./limits.ts";

/** Settings of Bun's server. */
export const serverSettings = {
  /** Bun's maximum, in seconds; handlers set shorter limits themselves. */
  idleTimeout: 255,
  maxRequestBodySize: serverBodyBytesMax,
  // Without NODE_ENV=production Bun would print the error of an aborted stream, with source code, between the JSON lines of the log.
  // The code that aborts a stream logs what matters.
  development: false,
};
