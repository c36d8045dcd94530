/**
 * The headers of the inference API's responses: the key's request window, waits, the generation's id, the route that served, and what
 * proxies must know of a stream. Names and notations are those of the official SDKs. `x-should-retry` is not here: the error table has it.
 */
import type { WindowOnBus } from "../../admission/message.ts";
import type { Reservation } from "../../credit/reservation.ts";
import { candidateName, type Candidate } from "../../models/candidate.ts";

type Headers = Record<string, string>;

/** The key's request window, in the header names and time notation of the official SDKs. */
export function windowHeaders({ limit, remaining, resetMs }: WindowOnBus): Headers {
  return {
    "x-ratelimit-limit-requests": String(limit),
    "x-ratelimit-remaining-requests": String(remaining),
    "x-ratelimit-reset-requests": duration(resetMs),
  };
}

/**
 * The wait in both forms: whole seconds, rounded up, at least 1, and exact milliseconds. Some SDKs ignore a `retry-after` of 60 s, which
 * a full window gives, and read `retry-after-ms` first.
 */
export function retryHeaders(waitMs: number): Headers {
  const exactMs = Math.max(1, Math.ceil(waitMs));
  return { "retry-after": String(Math.ceil(exactMs / 1_000)), "retry-after-ms": String(exactMs) };
}

/** For every response to an accepted request, and for no other. */
export function generationHeaders({ generation, request }: Pick<Reservation, "generation" | "request">): Headers {
  return { "x-generation-id": generation, "x-request-id": request };
}

/** The route that served an answer, and whether the workspace's own key did. Only while the workspace has routing on, and not on errors. */
export function routeHeaders(candidate: Candidate): Headers {
  return { "x-route": candidateName(candidate) + (candidate.route.ownKey ? "; key=own" : "") };
}

/** Keeps proxies from holding events back, compressing or caching them. */
export const streamHeaders: Readonly<Headers> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Such as `120ms`, `59.5s` and `1m0s`. */
function duration(ms: number): string {
  const wholeMs = Math.max(0, Math.ceil(ms));
  if (wholeMs < 1_000) return `${wholeMs}ms`;
  const minutes = Math.floor(wholeMs / 60_000);
  const seconds = (wholeMs - minutes * 60_000) / 1_000;
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}
