/** Reasoning efforts. A model refuses those that it does not take, so each wire format sends one that it takes. */
import { reasoningEfforts, type ReasoningEffort, type Route } from "../../models/model.ts";

/**
 * @param taken absent: every effort
 * @returns the effort, or the next lower one that the model takes, since a lower one costs no more than was asked for, or else its
 * lowest; undefined: the request has no effort
 */
export function fittedEffort(effort: unknown, taken: readonly ReasoningEffort[] = reasoningEfforts): ReasoningEffort | undefined {
  const place = reasoningEfforts.findIndex((known) => known === effort);
  if (place === -1) return undefined;
  const isTaken = (known: ReasoningEffort): boolean => taken.includes(known);
  return reasoningEfforts.slice(0, place + 1).findLast(isTaken) ?? reasoningEfforts.find(isTaken);
}

/**
 * Some models refuse `temperature` and `top_p` while they reason. The effort then counts, and the fields, which are hints, are left out.
 *
 * @param effort the one that is sent
 */
export function takesSampling({ samplesWithoutReasoning }: Route, effort: ReasoningEffort | undefined): boolean {
  return !samplesWithoutReasoning || effort === undefined || effort === "none";
}
