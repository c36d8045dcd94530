/** What a provider counted, gathered from however many usage objects it sends. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject, type JsonObject } from "../wire/json.ts";
import { reportedUsage } from "../wire/reported-usage.ts";

const names = ["prompt", "completion", "total", "cached", "cacheWrite", "reasoning"] as const;
type Name = (typeof names)[number];

/**
 * Providers tell usage in a chunk of its own, on the finish chunk, after it, in every chunk, as nulls, as zeros or in parts.
 * So the largest of each count stands: nothing is summed, and a zero never replaces a count. A count that was never told is absent.
 */
export class UsageTally {
  readonly #counts: Partial<Record<Name, number>> = {};

  /** Takes one usage object, or whatever stands in its place; true when it told something new. */
  take(value: unknown): boolean {
    const told = asObject(value);
    if (told === null) return false;
    const before = this.#sum();
    const prompt = asObject(told["prompt_tokens_details"]) ?? {};
    const completion = asObject(told["completion_tokens_details"]) ?? {};
    this.#take("prompt", told, "prompt_tokens");
    this.#take("completion", told, "completion_tokens");
    this.#take("total", told, "total_tokens");
    this.#take("cached", prompt, "cached_tokens");
    // DeepSeek and Moonshot tell cache reads beside the details.
    this.#take("cached", told, "prompt_cache_hit_tokens");
    this.#take("cached", told, "cached_tokens");
    this.#take("cacheWrite", prompt, "cache_write_tokens");
    this.#take("reasoning", completion, "reasoning_tokens");
    return this.#sum() > before;
  }

  /** null: nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { prompt = null, completion = null, total = 0, cached = 0, cacheWrite = 0, reasoning = 0 } = this.#counts;
    if ((prompt ?? 0) + (completion ?? 0) + total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning });
  }

  #take(name: Name, told: JsonObject, field: string): void {
    const count = asCount(told[field]);
    if (count !== null) this.#counts[name] = Math.max(this.#counts[name] ?? 0, count);
  }

  #sum(): number {
    return names.reduce((sum, name) => sum + (this.#counts[name] ?? 0), 0);
  }
}
