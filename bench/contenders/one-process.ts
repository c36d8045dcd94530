/** Starts a gateway that is one process, with whatever processes it starts itself. */
import { Child, type ChildPlan } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import type { Running } from "./contender.ts";

export interface OneProcess {
  child: ChildPlan;
  serves(): Promise<boolean>;
  readyMsMax?: number;
  /** Prepares it once it serves, such as by making keys. */
  prepare(): Promise<Pick<Running, "target" | "agentTarget" | "limited">>;
}

/** @throws Error with the end of its output when it does not serve */
export async function startOneProcess({ child: plan, serves, readyMsMax, prepare }: OneProcess): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const child = stack.use(new Child(plan));
  await child.ready(serves, readyMsMax);
  const prepared = await prepare();
  const kept = stack.move();
  return {
    ...prepared,
    usage: () => ({ [plan.name]: usageOf(child.pid) }),
    suspend: () => child.suspend(),
    resume: () => child.resume(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Whether a GET of this URL gives a status below 500. */
export async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response !== null && response.status < 500;
}
