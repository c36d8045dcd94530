/** Judges by recheck (https://makenowjust-labs.github.io/recheck/) whether expressions take more than linear time for some text. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { checkSync } from "recheck/lib/browser.js";
import { type Expression, keyOf } from "./collect.ts";

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

/**
 * Reads which expressions were found safe before, with their keys; none if recheck or its limits have changed since.
 * @param path a file of lines: first the version, then a key as JSON in each
 */
export function readSafe(path: string, version: string): Set<string> {
  const [first, ...keys] = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  return new Set(first === heading(version) ? keys.map((key) => JSON.parse(key) as string) : []);
}

export function keepSafe(path: string, version: string, keys: Iterable<string>): void {
  const lines = [...keys].map((key) => JSON.stringify(key)).toSorted();
  writeFileSync(path, `${[heading(version), ...lines].join("\n")}\n`);
}

function heading(version: string): string {
  return JSON.stringify({ judgedBy: `recheck ${version}`, ...bounds });
}
