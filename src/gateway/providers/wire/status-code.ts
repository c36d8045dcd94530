/** What the status of an answer means for us, and how much words beside it weigh. */
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
 * Where the status says that our key or credit is at fault, words can only say that it is a rate limit instead.
 * @param told what the body says, in words that mean one thing; undefined: nothing of the kind
 */
export function weighed(status: number, told: UpstreamCode | undefined): UpstreamCode {
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth") return told === "upstream_rate_limited" ? told : byStatus;
  return told ?? byStatus;
}
