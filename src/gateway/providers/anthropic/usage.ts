/** Reads the counts of the Messages API: the prompt in three disjoint parts, and the output including thinking. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject, type JsonObject } from "../wire/json.ts";

interface Prompt {
  fresh: number;
  cacheRead: number;
  cacheWrite: number;
}

export class AnthropicUsage {
  readonly #prompt: Prompt = { fresh: 0, cacheRead: 0, cacheWrite: 0 };
  #output = 0;
  #thinking = 0;

  /** Reads the usage at the start of a stream. Its output count is a placeholder, since nothing has been written yet. */
  takePrompt(value: unknown): void {
    const { fresh, cacheRead, cacheWrite } = promptOf(asObject(value) ?? {});
    const known = this.#prompt;
    // Some compatible servers first estimate the whole prompt, and at the end report only that it came from the cache.
    const wasWhole = fresh === 0 && known.cacheRead + known.cacheWrite === 0 && cacheRead + cacheWrite >= known.fresh;
    // Each count is a total of its own: a later one replaces it, an absent one or a zero does not.
    known.fresh = fresh || (wasWhole ? 0 : known.fresh);
    known.cacheRead = cacheRead || known.cacheRead;
    known.cacheWrite = cacheWrite || known.cacheWrite;
  }

  /** Reads the usage of a whole answer, or what a stream has counted so far. */
  take(value: unknown): void {
    const reported = asObject(value) ?? {};
    this.takePrompt(reported);
    this.#output = Math.max(this.#output, count(reported, "output_tokens"));
    this.#thinking = Math.max(this.#thinking, count(asObject(reported["output_tokens_details"]) ?? {}, "thinking_tokens"));
  }

  /** null if nothing was counted so far. Every prompt and every answer has tokens, so a zero says nothing about its side. */
  usage(): ReportedUsage | null {
    const promptTokens = sumOf(this.#prompt);
    if (promptTokens + this.#output === 0) return null;
    return {
      promptTokens: promptTokens || null,
      cachedTokens: this.#prompt.cacheRead,
      cacheWriteTokens: this.#prompt.cacheWrite,
      completionTokens: this.#output || null,
      reasoningTokens: Math.min(this.#thinking, this.#output),
    };
  }
}

/** Cache writes are reported as a sum and once more for each lifetime. */
function promptOf(reported: JsonObject): Prompt {
  const lifetimes = asObject(reported["cache_creation"]) ?? {};
  const apart = count(lifetimes, "ephemeral_5m_input_tokens") + count(lifetimes, "ephemeral_1h_input_tokens");
  return {
    fresh: count(reported, "input_tokens"),
    cacheRead: count(reported, "cache_read_input_tokens"),
    cacheWrite: Math.max(count(reported, "cache_creation_input_tokens"), apart),
  };
}

function sumOf({ fresh, cacheRead, cacheWrite }: Prompt): number {
  return fresh + cacheRead + cacheWrite;
}

function count(reported: JsonObject, field: string): number {
  return asCount(reported[field]) ?? 0;
}
