/** Whether expressions take more than linear time of any text, by recheck (https://makenowjust-labs.github.io/recheck/). */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { type Expression, keyOf } from "./expression.ts";

export interface Judgement {
  safe: boolean;
  /** How slow, and for which text. */
  says: string;
}

/** By `keyOf`. */
export type Judgements = Map<string, Judgement>;

/** The shortest go first: the judge itself grows quick by use. */
export async function judge(expressions: readonly Expression[]): Promise<Judgements> {
  const judgements: Judgements = new Map();
  const wanted = [...new Map(expressions.map((expression) => [keyOf(expression), expression])).values()];
  const waiting = wanted.toSorted((one, other) => other.source.length - one.source.length);
  const threads = Math.min(availableParallelism(), waiting.length);
  await Promise.all(Array.from({ length: threads }, () => workOff(waiting, judgements)));
  return judgements;
}

async function workOff(waiting: Expression[], judgements: Judgements): Promise<void> {
  const thread = new Worker(new URL("./judge-thread.ts", import.meta.url));
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      judgements.set(keyOf(next), await judgedBy(thread, next));
    }
  } finally {
    await thread.terminate();
  }
}

function judgedBy(thread: Worker, expression: Expression): Promise<Judgement> {
  return new Promise((resolve, reject) => {
    thread.once("message", (judgement: Judgement) => {
      thread.off("error", reject);
      resolve(judgement);
    });
    thread.once("error", reject);
    thread.postMessage(expression, []);
  });
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
