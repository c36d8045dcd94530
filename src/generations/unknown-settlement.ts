/** How a generation ends that nobody can tell the end of: charged nothing, reported, its hold released. */
import type { Hold } from "../backing/counters.ts";
import { holdMs } from "../limits/constants.ts";
import type { Settlement } from "./settlement.ts";
import type { Intent } from "./spool-line.ts";

const nothing = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

function lost(outcome: "unknown" | "expired"): Pick<Settlement, "outcome" | "prices" | "usage" | "provider"> & typeof failed {
  return { outcome, prices: free, usage: nothing, provider: "unknown", ...failed };
}

const failed = { usageEstimated: false, status: 500, code: "internal_error", firstTokenMs: null };

/** Its front died after the intent and before the settlement. */
export function unknownSettlement(intent: Intent, nowMs: number): Settlement {
  const { generation, request, workspace, key, month, admittedAt, model, streamed } = intent;
  // A spool may be found after weeks; nothing lasts longer than its hold.
  const durationMs = Math.min(Math.max(0, Math.round(nowMs - admittedAt)), holdMs);
  return {
    ...lost("unknown"),
    generation,
    request,
    workspace,
    key,
    month,
    admittedAt,
    model,
    streamed,
    reserved: intent.amount,
    durationMs,
  };
}

/** Its hold outlived every stream, and no front knows of it. */
export function expiredSettlement(workspace: string, hold: Hold): Settlement {
  const { generation, key, month, admittedAt, deadline } = hold;
  const facts = { generation, key, month, admittedAt, workspace, request: "unknown", model: "unknown", streamed: false };
  return { ...lost("expired"), ...facts, reserved: hold.amount.toString(), durationMs: deadline - admittedAt };
}
