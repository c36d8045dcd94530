/** What a provider counted, gathered from however many usage objects it sends. */
import type { Usage } from "../../models/model.ts";
import { asCount, asObject, type JsonObject } from "../json.ts";

/**
 * Providers tell usage in a chunk of its own, on the finish chunk, after it, in every chunk, as nulls, as zeros or in parts.
 * So the largest of each count stands: nothing is summed, and a zero never replaces a count.
 */
export class UsageTally {
  #prompt = 0;
  #completion = 0;
  #total = 0;
  #cached = 0;
  #cacheWrite = 0;
  #reasoning = 0;

  /** Takes one usage object, or whatever stands in its place; true when it told something new. */
  take(value: unknown): boolean {
    const told = asObject(value);
    if (told === null) return false;
    const before = this.#sum();
    const prompt = asObject(told["prompt_tokens_details"]) ?? {};
    const completion = asObject(told["completion_tokens_details"]) ?? {};
    this.#prompt = largest(this.#prompt, told, "prompt_tokens");
    this.#completion = largest(this.#completion, told, "completion_tokens");
    this.#total = largest(this.#total, told, "total_tokens");
    this.#cached = largest(this.#cached, prompt, "cached_tokens");
    // DeepSeek and Moonshot tell cache reads beside the details.
    this.#cached = largest(largest(this.#cached, told, "prompt_cache_hit_tokens"), told, "cached_tokens");
    this.#cacheWrite = largest(this.#cacheWrite, prompt, "cache_write_tokens");
    this.#reasoning = largest(this.#reasoning, completion, "reasoning_tokens");
    return this.#sum() > before;
  }

  /** null: nothing was counted so far. */
  usage(): Usage | null {
    if (this.#prompt + this.#completion + this.#total === 0) return null;
    // A count that was not told is what the total leaves for it; reasoning counted outside of the completion is added to it.
    const promptTokens = this.#prompt || Math.max(0, this.#total - this.#completion);
    const completionTokens = Math.max(this.#completion, this.#total - promptTokens);
    const cachedTokens = Math.min(this.#cached, promptTokens);
    return {
      promptTokens,
      cachedTokens,
      cacheWriteTokens: Math.min(this.#cacheWrite, promptTokens - cachedTokens),
      completionTokens,
      reasoningTokens: Math.min(this.#reasoning, completionTokens),
    };
  }

  #sum(): number {
    return this.#prompt + this.#completion + this.#total + this.#cached + this.#cacheWrite + this.#reasoning;
  }
}

function largest(count: number, told: JsonObject, field: string): number {
  return Math.max(count, asCount(told[field]) ?? 0);
}
