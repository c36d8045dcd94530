/** Judges by recheck (https://makenowjust-labs.github.io/recheck/) whether expressions take more than linear time for some text. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { checkSync } from "recheck/lib/browser.js";
import { type Expression, keyOf } from "./expression.ts";

export interface Judgement {
  safe: boolean;
  /** How slow it is, and for which text; empty when safe. */
  problem: string;
}

/** Judgements by `keyOf`. */
export type Judgements = Map<string, Judgement>;

/** Limits of steps, not of time, so that a busy machine comes to the same judgement as an idle one. */
const bounds = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: -1,
  /** Up to so many states of its automaton, an expression is judged exactly. A larger one would take seconds; it is tried with texts instead. */
  maxNFASize: 5_000,
  // How many rounds there are, and how many texts each tries: fewer than by default find the same expressions here, in a sixth of the time.
  maxIteration: 4,
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  mutationSize: 10,
  crossoverSize: 10,
};

/** Judges one after the other: on two cores a second thread cost more than it saved. */
export function judge(expressions: readonly Expression[]): Judgements {
  const judgements: Judgements = new Map();
  for (const expression of expressions) {
    const key = keyOf(expression);
    if (!judgements.has(key)) judgements.set(key, judged(expression));
  }
  return judgements;
}

function judged({ source, flags }: Expression): Judgement {
  const found = checkSync(source, flags, bounds);
  switch (found.status) {
    case "safe":
      return { safe: true, problem: "" };
    case "vulnerable":
      return { safe: false, problem: `${found.complexity.summary}: ${found.attack.pattern}` };
    case "unknown":
      return { safe: false, problem: `cannot be checked: ${found.error.kind}` };
  }
}

/** Earlier judgements of the same version of recheck. */
export function readJudgements(path: string, version: string): Judgements {
  try {
    const kept = JSON.parse(readFileSync(path, "utf8")) as { version: string; judgements: [string, Judgement][] };
    return new Map(kept.version === version ? kept.judgements : []);
  } catch {
    return new Map();
  }
}

export function keepJudgements(path: string, version: string, judgements: Judgements): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ version, judgements: [...judgements] }));
}
