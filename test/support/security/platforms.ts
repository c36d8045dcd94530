/** The platforms that repositories are imported from, as a test wants them: their public addresses until it names a stub's. */
import { createSafeFetch, type SafeFetch } from "../../../src/http/safe-fetch.ts";
import { systemClock } from "../../../src/kernel/clock.ts";

export class Platforms {
  readonly hostUrls = { github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4" };
  /** Calls this machine, and nothing else. */
  readonly callHosts: SafeFetch = (request) => {
    if (request.url.hostname !== "127.0.0.1") return Promise.reject(new Error(`No test calls ${request.url.host}`));
    return createSafeFetch({ clock: systemClock, configured: () => true })(request);
  };
}
