/** How much a model is to think, as Google's own chat completions translate it (https://ai.google.dev/gemini-api/docs/openai). */
import type { JsonObject } from "../wire/json.ts";
import { isUpToGemini2 } from "./model.ts";

/** Tokens. */
const budgets = new Map<unknown, number>([
  ["none", 0],
  ["minimal", 1_024],
  ["low", 1_024],
  ["medium", 8_192],
]);
const budgetMax = 24_576;

/** Levels cannot be switched off: the least of them comes nearest to it. Models without it answer that they lack it. */
const levels = new Map<unknown, string>([
  ["none", "MINIMAL"],
  ["minimal", "MINIMAL"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
]);

/** Who asks for reasoning gets to see it. @returns undefined: the model's own default holds */
export function thinkingConfig(effort: unknown, upstreamModel: string): JsonObject | undefined {
  if (effort === undefined) return undefined;
  const includeThoughts = effort !== "none";
  if (isUpToGemini2(upstreamModel)) return { thinkingBudget: budgets.get(effort) ?? budgetMax, includeThoughts };
  return { thinkingLevel: levels.get(effort) ?? "HIGH", includeThoughts };
}
