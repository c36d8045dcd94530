/**
 * Maps the reasoning effort to Google's thinking fields, as Google's own chat completions do
 * (https://ai.google.dev/gemini-api/docs/openai).
 */
import type { Route } from "../../models/model.ts";
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

/** Levels cannot be switched off, so `none` becomes the lowest level. Models that lack it have `efforts` in the catalog. */
const levels = new Map<unknown, string>([
  ["none", "MINIMAL"],
  ["minimal", "MINIMAL"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
]);

/**
 * A client that sets an effort also receives the reasoning.
 * @returns undefined if the model's default applies
 */
export function thinkingConfig(wanted: unknown, { upstreamModel, efforts }: Route): JsonObject | undefined {
  const effort = fittedEffort(wanted, efforts);
  if (effort === undefined) return undefined;
  const includeThoughts = wanted !== "none";
  if (isUpToGemini2(upstreamModel)) return { thinkingBudget: budgets.get(effort) ?? budgetMax, includeThoughts };
  return { thinkingLevel: levels.get(effort) ?? "HIGH", includeThoughts };
}
