/** Decides the single finish reason of an answer whose provider sends several, or goes on after one. */
import type { FinishReason } from "../provider.ts";

/** A reason that cut the answer short outranks one that ended it: a client must not take a cut answer for complete. */
const ascending: readonly FinishReason[] = ["stop", "function_call", "tool_calls", "length", "content_filter"];

/** @param before null: there was none so far */
export function strongerReason(before: FinishReason | null, next: FinishReason): FinishReason {
  return before !== null && ascending.indexOf(before) >= ascending.indexOf(next) ? before : next;
}

/**
 * @param reason null: the provider sent none
 * @param calledTools whether the answer calls tools, which SDKs run only with `tool_calls`
 */
export function finalReason(reason: FinishReason | null, calledTools: boolean): FinishReason {
  return calledTools && (reason ?? "stop") === "stop" ? "tool_calls" : (reason ?? "stop");
}
