/**
 * Until when a platform's rate limit applies.
 * Sources: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit,
 * https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
 */
import type { SafeResponse } from "../../../http/outbound/safe-fetch.ts";

const withoutWordMs = 60_000;

/** @returns milliseconds since the epoch; null if the answer is not about a rate limit */
export function limitedUntil({ status, headers, body }: SafeResponse, nowMs: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const retryAfter = seconds(headers["retry-after"]);
  if (retryAfter !== null) return nowMs + retryAfter * 1000;
  if (headers["x-ratelimit-remaining"] === "0" || headers["ratelimit-remaining"] === "0") {
    const reset = seconds(headers["x-ratelimit-reset"]) ?? seconds(headers["ratelimit-reset"]);
    return reset === null ? nowMs + withoutWordMs : Math.max(reset * 1000, nowMs);
  }
  // GitHub's secondary limits may only be mentioned in the text.
  const isSaid = status === 429 || /rate limit/i.test(body.subarray(0, 2_000).toString());
  return isSaid ? nowMs + withoutWordMs : null;
}

function seconds(header: string | string[] | undefined): number | null {
  return typeof header === "string" && /^\d{1,12}$/.test(header) ? Number(header) : null;
}
