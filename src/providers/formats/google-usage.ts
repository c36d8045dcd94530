/** What generateContent counted. */
import type { Usage } from "../../models/model.ts";
import { asCount, asObject } from "../json.ts";

const counts = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "toolUsePromptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "totalTokenCount",
] as const;

/** Every chunk tells all that was counted so far: the last count stands, and one that is absent or zero takes nothing back. */
export class GoogleUsage {
  readonly #told: Partial<Record<(typeof counts)[number], number>> = {};

  /** Takes `usageMetadata`, or whatever stands in its place; true when it told something new. */
  take(value: unknown): boolean {
    const told = asObject(value) ?? {};
    let news = false;
    for (const name of counts) {
      const count = asCount(told[name]);
      if (!count || count === this.#told[name]) continue;
      this.#told[name] = count;
      news = true;
    }
    return news;
  }

  /**
   * Cached tokens are within the prompt, thoughts outside of the candidates. A total above the sum holds thoughts that were not
   * told apart; they are billed as output. null: nothing was counted so far.
   */
  usage(): Usage | null {
    const { promptTokenCount: prompt = 0, toolUsePromptTokenCount: toolUse = 0, totalTokenCount: total = 0 } = this.#told;
    const {
      candidatesTokenCount: candidates = 0,
      thoughtsTokenCount: thoughts = 0,
      cachedContentTokenCount: cached = 0,
    } = this.#told;
    const output = candidates + thoughts;
    const promptTokens = prompt + toolUse || Math.max(0, total - output);
    const completionTokens = Math.max(output, total - promptTokens);
    if (promptTokens + completionTokens === 0) return null;
    return {
      promptTokens,
      cachedTokens: Math.min(cached, promptTokens),
      cacheWriteTokens: 0,
      completionTokens,
      reasoningTokens: thoughts,
    };
  }
}
