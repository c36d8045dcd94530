/** Collects a provider's counts from all its usage objects. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject } from "../wire/json.ts";
import { reportedUsage } from "../wire/reported-usage.ts";

type Name = "prompt" | "completion" | "total" | "cached" | "cacheWrite" | "reasoning";

/**
 * Providers report usage in a separate chunk, on the finish chunk, after it, in every chunk, as nulls, as zeros or in parts.
 * The largest value of each count is valid: nothing is added up, and a zero never replaces a count. A count that was never
 * reported is absent.
 */
export class UsageTally {
  readonly #counts: Partial<Record<Name, number>> = {};
  /** The usage object that is read has a new count. */
  #isNew = false;

  /**
   * Reads one usage object, or whatever value is in its place.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value);
    if (reported === null) return false;
    this.#isNew = false;
    this.#take("prompt", reported["prompt_tokens"]);
    this.#take("completion", reported["completion_tokens"]);
    this.#take("total", reported["total_tokens"]);
    const prompt = asObject(reported["prompt_tokens_details"]);
    this.#take("cached", prompt?.["cached_tokens"]);
    // DeepSeek and Moonshot report cache reads outside of the details.
    this.#take("cached", reported["prompt_cache_hit_tokens"]);
    this.#take("cached", reported["cached_tokens"]);
    this.#take("cacheWrite", prompt?.["cache_write_tokens"]);
    this.#take("reasoning", asObject(reported["completion_tokens_details"])?.["reasoning_tokens"]);
    // SGLang reports it outside of the details.
    this.#take("reasoning", reported["reasoning_tokens"]);
    return this.#isNew;
  }

  /** null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { prompt = null, completion = null, total = 0, cached = 0, cacheWrite = 0, reasoning = 0 } = this.#counts;
    if ((prompt ?? 0) + (completion ?? 0) + total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite, reasoning });
  }

  #take(name: Name, value: unknown): void {
    const count = asCount(value);
    if (count === null) return;
    const before = this.#counts[name] ?? 0;
    this.#counts[name] = Math.max(before, count);
    this.#isNew ||= count > before;
  }
}
