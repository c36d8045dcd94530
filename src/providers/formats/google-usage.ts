/** What generateContent counted. */
import type { ToldUsage } from "../../models/model.ts";
import { asCount, asObject } from "../json.ts";
import { toldUsage } from "./told-usage.ts";

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

  /** Cached tokens are within the prompt, thoughts outside of the candidates. null: nothing was counted so far. */
  usage(): ToldUsage | null {
    const { promptTokenCount: prompt, toolUsePromptTokenCount: toolUse, totalTokenCount: total = 0 } = this.#told;
    const { candidatesTokenCount: candidates, thoughtsTokenCount: thoughts, cachedContentTokenCount: cached = 0 } = this.#told;
    if ((prompt ?? toolUse ?? candidates ?? thoughts ?? total) === 0) return null;
    return toldUsage({
      prompt: sumOf(prompt, toolUse),
      completion: sumOf(candidates, thoughts),
      total,
      cached,
      cacheWrite: 0,
      reasoning: thoughts ?? 0,
    });
  }
}

/** null: neither was told. */
function sumOf(one: number | undefined, another: number | undefined): number | null {
  return one === undefined && another === undefined ? null : (one ?? 0) + (another ?? 0);
}
