/** What the Messages API counted: the prompt in three parts that exclude each other, output with the thinking in it. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject, type JsonObject } from "../wire/json.ts";

interface Prompt {
  fresh: number;
  cacheRead: number;
  cacheWrite: number;
}

export class AnthropicUsage {
  #prompt: Prompt = { fresh: 0, cacheRead: 0, cacheWrite: 0 };
  #output = 0;
  #thinking = 0;

  /** Takes what a stream begins with: there the count of output is a placeholder, for nothing has been written yet. */
  takePrompt(value: unknown): void {
    const told = promptOf(asObject(value) ?? {});
    // Each count is a total. Who tells one of them again tells all of them, and zeros take nothing back.
    if (sumOf(told) > 0) this.#prompt = told;
  }

  /** Takes the usage of a whole answer, or what a stream has counted up to here. */
  take(value: unknown): void {
    const told = asObject(value) ?? {};
    this.takePrompt(told);
    this.#output = Math.max(this.#output, count(told, "output_tokens"));
    this.#thinking = Math.max(this.#thinking, count(asObject(told["output_tokens_details"]) ?? {}, "thinking_tokens"));
  }

  /** null: nothing was counted so far. Neither a prompt nor an answer is free of tokens, so a zero tells nothing of its side. */
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

/** Writes to the cache are told as a sum, and apart for each lifetime. */
function promptOf(told: JsonObject): Prompt {
  const lifetimes = asObject(told["cache_creation"]) ?? {};
  const apart = count(lifetimes, "ephemeral_5m_input_tokens") + count(lifetimes, "ephemeral_1h_input_tokens");
  return {
    fresh: count(told, "input_tokens"),
    cacheRead: count(told, "cache_read_input_tokens"),
    cacheWrite: Math.max(count(told, "cache_creation_input_tokens"), apart),
  };
}

function sumOf({ fresh, cacheRead, cacheWrite }: Prompt): number {
  return fresh + cacheRead + cacheWrite;
}

function count(told: JsonObject, field: string): number {
  return asCount(told[field]) ?? 0;
}
