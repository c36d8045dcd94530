/** Runs one load after the other. Each request is a line of JSON arguments, each reply a line of JSON. Code and keys stay warm between loads. */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { runLoad } from "./run-load.ts";
import { targetOf, type Target, type TargetPlan } from "./target.ts";
import type { Result } from "./tally.ts";
import { planOf, readLoadArguments } from "./load-arguments.ts";

export type LoadAnswer = { result: Result } | { error: string };

export interface LoadWire {
  requests: Readable;
  replies: Writable;
  progress(line: string): void;
}

/** Resolves when the input is closed. It then aborts a running load, since no process waits for the result. */
export async function serveLoads({ requests, replies, progress }: LoadWire): Promise<void> {
  const keep = targetKeeper();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const answer = async (line: string): Promise<LoadAnswer> => {
    try {
      const plan = planOf(readLoadArguments(argumentsOf(line)), keep);
      return { result: await runLoad({ ...plan, stop: stopping.signal, progress }) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  createInterface({ input: requests })
    .on("line", (line) => void answer(line).then((reply) => replies.write(`${JSON.stringify(reply)}\n`)))
    .once("close", close);
  await closed;
  stopping.abort();
}

/** Keeps the target between loads, since making the requests of 10,000 keys takes time. */
function targetKeeper(): (plan: TargetPlan) => Target {
  let kept: { name: string; target: Target } | null = null;
  return (plan) => {
    const name = JSON.stringify(plan);
    if (kept?.name !== name) kept = { name, target: targetOf(plan) };
    return kept.target;
  };
}

function argumentsOf(line: string): string[] {
  const words: unknown = JSON.parse(line);
  if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  throw new Error("A load request must be a list of arguments");
}
