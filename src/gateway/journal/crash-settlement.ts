/** How a generation ends whose gateway died: charged for what was delivered, or for nothing where nothing was sent. */
import type { Hold } from "../../backing/counters.ts";
import { holdMs } from "../../backing/limits.ts";
import type { Settlement } from "./settlement.ts";
import type { InterruptedGeneration } from "./recovered.ts";

const nothing = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

function uncharged(
  outcome: "unknown" | "expired",
): Pick<Settlement, "outcome" | "prices" | "usage" | "provider"> & typeof failed {
  return { outcome, prices: free, usage: nothing, provider: "unknown", ...failed };
}

const failed = { usageEstimated: false, status: 500, code: "internal_error", firstTokenMs: null };

/**
 * Its gateway died after the intent and before the settlement. What had been sent is owed: the prompt, and what was delivered by
 * the last line about it.
 */
export function interruptedSettlement({ intent, sent, owed, ...told }: InterruptedGeneration, nowMs: number): Settlement {
  const { generation, request, workspace, key, month, admittedAt, model, streamed } = intent;
  // A spool may be found after weeks; nothing lasts longer than its hold.
  const durationMs = Math.min(Math.max(0, Math.round(nowMs - admittedAt)), holdMs);
  const facts = { generation, request, workspace, key, month, admittedAt, model, streamed, reserved: intent.amount, durationMs };
  if (!sent || !owed) return { ...uncharged("unknown"), ...facts };
  const { provider, prices, promptTokens } = owed;
  const usage = { ...nothing, ...told, promptTokens };
  return { ...facts, ...failed, outcome: "settled", provider, prices, usage, usageEstimated: true };
}

/** Its hold outlived every stream, and no front knows of it. */
export function expiredSettlement(workspace: string, hold: Hold): Settlement {
  const { generation, key, month, admittedAt, deadline } = hold;
  const facts = { generation, key, month, admittedAt, workspace, request: "unknown", model: "unknown", streamed: false };
  return { ...uncharged("expired"), ...facts, reserved: hold.amount.toString(), durationMs: deadline - admittedAt };
}
