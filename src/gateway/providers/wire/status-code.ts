/** Maps a response's status to our error code, and weighs the body's words against it. */
import type { UpstreamCode } from "../provider.ts";

const codeByStatus = new Map<number, UpstreamCode>([
  [400, "upstream_rejected"],
  [401, "upstream_auth"],
  [402, "upstream_auth"],
  [403, "upstream_auth"],
  [404, "upstream_rejected"],
  [413, "upstream_rejected"],
  [422, "upstream_rejected"],
  [429, "upstream_rate_limited"],
]);

export function codeOfStatus(status: number): UpstreamCode {
  return codeByStatus.get(status) ?? "upstream_error";
}

/**
 * If the status says that our key or credit is at fault, the body can only change that to a rate limit.
 * @param byBody the code that the body's words stand for; undefined if they stand for none
 */
export function weighed(status: number, byBody: UpstreamCode | undefined): UpstreamCode {
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth") return byBody === "upstream_rate_limited" ? byBody : byStatus;
  return byBody ?? byStatus;
}
