/** Hints in the log for clients whose base URL lacks `/gpt/v1`: official packages show them no more than "404 status code (no body)". */
import { requestTarget } from "../http/router.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { wrongPathHintMs } from "./limits.ts";

/** What clients of the format ask for. */
const endpoints = ["/chat/completions", "/completions", "/embeddings", "/models", "/responses"];
const pathCharactersMax = 80;

/** @returns call it for each request to a path that is not served; it writes one hint for each endpoint now and then */
export function wrongPathHints({
  prefix,
  clock,
  log,
}: {
  prefix: string;
  clock: Clock;
  log: Logger;
}): (request: Request) => void {
  const hintedAt = new Map<string, number>();
  return (request) => {
    const { path } = requestTarget(request);
    const endpoint = endpoints.find((one) => path.endsWith(one));
    if (endpoint === undefined || path.length > pathCharactersMax) return;
    const nowMs = clock.monotonic();
    if (nowMs - (hintedAt.get(endpoint) ?? -Infinity) < wrongPathHintMs) return;
    hintedAt.set(endpoint, nowMs);
    const hint = path.startsWith(prefix) ? `there is no ${endpoint} here` : `a client's base URL must end with ${prefix}`;
    log.info({ event: "path.unknown", path }, `${path} is not served: ${hint}`);
  };
}
