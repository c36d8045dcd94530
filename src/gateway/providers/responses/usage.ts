/** Reads the counts of the Responses API: those of chat completions, most under other names. */
import type { ReportedUsage } from "../../models/model.ts";
import { UsageTally } from "../openai/usage.ts";
import { asObject } from "../wire/json.ts";

export class ResponsesUsage {
  readonly #tally = new UsageTally();

  /**
   * Reads `usage`, or whatever value is in its place. Several events may have one, and each a part of the counts.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value) ?? {};
    return this.#tally.take({
      prompt_tokens: reported["input_tokens"],
      completion_tokens: reported["output_tokens"],
      total_tokens: reported["total_tokens"],
      prompt_tokens_details: reported["input_tokens_details"],
      completion_tokens_details: reported["output_tokens_details"],
    });
  }

  /** null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    return this.#tally.usage();
  }
}
