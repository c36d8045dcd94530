/** Reads the counts of generateContent. */
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

/** Every chunk repeats all counts so far. The last count is valid; a missing or zero count does not reset it. */
export class GoogleUsage {
  readonly #counts: Partial<Record<(typeof counts)[number], number>> = {};

  /**
   * Reads `usageMetadata`, or whatever value is in its place.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value) ?? {};
    let news = false;
    for (const name of counts) {
      const count = asCount(reported[name]);
      if (!count || count === this.#counts[name]) continue;
      this.#counts[name] = count;
      news = true;
    }
    return news;
  }

  /** Cached tokens are part of the prompt; thoughts are not part of the candidates. null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    const { promptTokenCount = 0, toolUsePromptTokenCount: toolUse = 0, totalTokenCount: total = 0 } = this.#counts;
    const { candidatesTokenCount = 0, thoughtsTokenCount: reasoning = 0, cachedContentTokenCount: cached = 0 } = this.#counts;
    // Zeros were ignored, so a sum of zero means that nothing was reported.
    const prompt = promptTokenCount + toolUse || null;
    const completion = candidatesTokenCount + reasoning || null;
    if (prompt === null && completion === null && total === 0) return null;
    return reportedUsage({ prompt, completion, total, cached, cacheWrite: 0, reasoning });
  }
}
