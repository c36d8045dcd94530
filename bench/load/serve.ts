/** One load after the other, each asked for by a line of JSON words and answered by a line of JSON: code and keys stay warm between. */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { runLoad } from "./run-load.ts";
import { targetOf, type Target, type TargetPlan } from "./target.ts";
import type { Result } from "./tally.ts";
import { planOf, readLoadArguments } from "./load-arguments.ts";

export type LoadAnswer = { result: Result } | { error: string };

export interface LoadWire {
  questions: Readable;
  answers: Writable;
  progress(line: string): void;
}

/** Resolves when no more can be asked for: a load that is under way then is nobody's, and is not waited for. */
export async function serveLoads({ questions, answers, progress }: LoadWire): Promise<void> {
  const keep = targetKeeper();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const answer = async (line: string): Promise<LoadAnswer> => {
    try {
      const plan = planOf(readLoadArguments(wordsOf(line)), keep);
      return { result: await runLoad({ ...plan, stop: stopping.signal, progress }) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  createInterface({ input: questions })
    .on("line", (line) => void answer(line).then((said) => answers.write(`${JSON.stringify(said)}\n`)))
    .once("close", close);
  await closed;
  stopping.abort();
}

/** The requests of 10,000 keys are not made anew for each load. */
function targetKeeper(): (plan: TargetPlan) => Target {
  let kept: { name: string; target: Target } | null = null;
  return (plan) => {
    const name = JSON.stringify(plan);
    if (kept?.name !== name) kept = { name, target: targetOf(plan) };
    return kept.target;
  };
}

function wordsOf(line: string): string[] {
  const words: unknown = JSON.parse(line);
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  throw new Error("A load is asked for by a list of words");
}
