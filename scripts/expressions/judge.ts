/** Whether expressions take more than linear time of any text, by recheck (https://makenowjust-labs.github.io/recheck/). */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { checkSync } from "recheck/lib/browser.js";
import { type Expression, keyOf } from "./expression.ts";

export interface Judgement {
  safe: boolean;
  /** How slow, and for which text. */
  says: string;
}

/** By `keyOf`. */
export type Judgements = Map<string, Judgement>;

/** Bounded by steps and not by time: a busy machine comes to the same judgement as an idle one. */
const bounds = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: -1,
  /** States of the automaton by which one is judged exactly; a larger one takes seconds, and is attacked with texts instead. */
  maxNFASize: 5_000,
  // Texts that are tried in each round: fewer than by default find the same expressions here, in a third of the time.
  maxInitialGenerationSize: 100,
  maxGenerationSize: 30,
  mutationSize: 10,
  crossoverSize: 10,
};

/** One after the other: on two cores a second thread has cost more than it gave. */
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
      return { safe: true, says: "" };
    case "vulnerable":
      return { safe: false, says: `${found.complexity.summary}: ${found.attack.pattern}` };
    case "unknown":
      return { safe: false, says: `cannot be judged: ${found.error.kind}` };
  }
}

/** What was judged before by the same version of recheck. */
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
