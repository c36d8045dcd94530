/** Reads the counts of the Responses API. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject } from "../wire/json.ts";
import { reportedUsage } from "../wire/reported-usage.ts";

/**
 * Reads `usage`, or whatever value is in its place.
 * @returns null if it counts nothing
 */
export function responsesUsage(value: unknown): ReportedUsage | null {
  const reported = asObject(value) ?? {};
  const prompt = asCount(reported["input_tokens"]);
  const completion = asCount(reported["output_tokens"]);
  const total = asCount(reported["total_tokens"]) ?? 0;
  if ((prompt ?? 0) + (completion ?? 0) + total === 0) return null;
  const input = asObject(reported["input_tokens_details"]);
  return reportedUsage({
    prompt,
    completion,
    total,
    cached: asCount(input?.["cached_tokens"]) ?? 0,
    cacheWrite: asCount(input?.["cache_write_tokens"]) ?? 0,
    reasoning: asCount(asObject(reported["output_tokens_details"])?.["reasoning_tokens"]) ?? 0,
  });
}
