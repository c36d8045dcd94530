/** Collects a provider's counts from all its usage objects. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject, type JsonObject } from "../wire/json.ts";
import { reportedUsage } from "../wire/reported-usage.ts";

const names = ["prompt", "completion", "total", "cached", "cacheWrite", "reasoning"] as const;
type Name = (typeof names)[number];

/**
 * Providers report usage in a separate chunk, on the finish chunk, after it, in every chunk, as nulls, as zeros or in parts.
 * The largest value of each count is valid: nothing is added up, and a zero never replaces a count. A count that was never
 * reported is absent.
 */
export class UsageTally {
  readonly #counts: Partial<Record<Name, number>> = {};

  /**
   * Reads one usage object, or whatever value is in its place.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value);
    if (reported === null) return false;
    const before = this.#sum();
    const prompt = asObject(reported["prompt_tokens_details"]) ?? {};
    const completion = asObject(reported["completion_tokens_details"]) ?? {};
    this.#take("prompt", reported, "prompt_tokens");
    this.#take("completion", reported, "completion_tokens");
    this.#take("total", reported, "total_tokens");
    this.#take("cached", prompt, "cached_tokens");
    // DeepSeek and Moonshot report cache reads outside of the details.
    this.#take("cached", reported, "prompt_cache_hit_tokens");
    this.#take("cached", reported, "cached_tokens");
    this.#take("cacheWrite", prompt, "cache_write_tokens");
    this.#take("reasoning", completion, "reasoning_tokens");
    return this.#sum() > before;
  }

  /** null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { prompt = null, completion = null, total = 0, cached = 0, cacheWrite = 0, reasoning = 0 } = this.#counts;
    if ((prompt ?? 0) + (completion ?? 0) + total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning });
  }

  #take(name: Name, reported: JsonObject, field: string): void {
    const count = asCount(reported[field]);
    if (count !== null) this.#counts[name] = Math.max(this.#counts[name] ?? 0, count);
  }

  #sum(): number {
    return names.reduce((sum, name) => sum + (this.#counts[name] ?? 0), 0);
  }
}
