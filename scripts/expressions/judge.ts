/**
 * Checks with recheck (https://makenowjust-labs.github.io/recheck/) whether an expression takes more than linear time for some text.
 */
import { checkSync } from "recheck/lib/browser.js";
import type { Expression } from "./collect.ts";

/** Limits on steps, not on time, so that a busy machine reaches the same judgement as an idle one. */
export const bounds = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: -1,
  /**
   * An expression whose automaton has up to this many states is judged exactly. A larger one would take seconds, so it is tried with texts
   * instead.
   */
  maxNFASize: 5_000,
  // The number of rounds, and of texts in each: fewer than by default find the same expressions here in a sixth of the time.
  maxIteration: 4,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  mutationSize: 10,
  crossoverSize: 10,
};

/** @returns how slow it is and for which text, or why that cannot be determined; null: it is safe */
export function problemOf({ source, flags }: Pick<Expression, "source" | "flags">): string | null {
  const found = checkSync(source, flags, bounds);
  if (found.status === "safe") return null;
  if (found.status === "unknown") return `cannot be checked: ${found.error.kind}`;
  return `${found.complexity.summary}: ${found.attack.pattern}`;
}
