/** What generateContent counted. */
import type { ReportedUsage } from "../../models/model.ts";
import { asCount, asObject } from "../wire/json.ts";
import { reportedUsage } from "../wire/reported-usage.ts";

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
  usage(): ReportedUsage | null {
    const { promptTokenCount = 0, toolUsePromptTokenCount: toolUse = 0, totalTokenCount: total = 0 } = this.#told;
    const { candidatesTokenCount = 0, thoughtsTokenCount: reasoning = 0, cachedContentTokenCount: cached = 0 } = this.#told;
    // No zero was taken, so a sum of zero was not told.
    const prompt = promptTokenCount + toolUse || null;
    const completion = candidatesTokenCount + reasoning || null;
    if (prompt === null && completion === null && total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite: 0, reasoning });
  }
}
