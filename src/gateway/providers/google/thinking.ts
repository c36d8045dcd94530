/**
 * Maps the reasoning effort to Google's thinking fields, as Google's own chat completions do
 * (https://ai.google.dev/gemini-api/docs/openai).
 */
import type { ReasoningEffort, Route } from "../../models/model.ts";
import { fittedEffort } from "../wire/effort.ts";
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

/** What a model without `efforts` in the catalog takes: those that lack the level `MINIMAL`, or have `XHIGH`, have them. */
const usualEfforts: readonly ReasoningEffort[] = ["none", "minimal", "low", "medium", "high"];

/** Levels cannot be switched off, so `none` becomes the lowest level. */
const levels = new Map<unknown, string>([
  ["none", "MINIMAL"],
  ["minimal", "MINIMAL"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
  ["xhigh", "XHIGH"],
]);

/**
 * A client that sets an effort also receives the reasoning.
 * @returns undefined if the model's default applies
 */
export function thinkingConfig(wanted: unknown, { upstreamModel, efforts }: Route): JsonObject | undefined {
  const effort = fittedEffort(wanted, efforts ?? usualEfforts);
  if (effort === undefined) return undefined;
  const includeThoughts = wanted !== "none";
  if (isUpToGemini2(upstreamModel)) return { thinkingBudget: budgets.get(effort) ?? budgetMax, includeThoughts };
  return { thinkingLevel: levels.get(effort) ?? "HIGH", includeThoughts };
}
