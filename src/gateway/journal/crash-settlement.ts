/** Settlements of generations whose gateway died: charged for what was delivered, or nothing if the request was not sent. */
import type { Hold } from "../../backing/counters.ts";
import { holdMs } from "../../backing/limits.ts";
import type { EndingCode } from "../../kernel/errors.ts";
import { owedPrices } from "./owed-prices.ts";
import type { Settlement } from "./settlement.ts";
import type { InterruptedGeneration } from "./recovered.ts";

const nothing = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

function uncharged(
  outcome: "unknown" | "expired",
): Pick<Settlement, "outcome" | "prices" | "usage" | "provider"> & typeof failed {
  return { outcome, prices: free, usage: nothing, provider: "unknown", ...failed };
}

const code: EndingCode = "internal_error";
const failed = { usageEstimated: false, status: 500, code, firstTokenMs: null };

/**
 * For a gateway that died between the intent and the settlement. A request that was sent is charged: its prompt, and the tokens
 * delivered by its last progress line.
 */
export function interruptedSettlement({ intent, sent, owed, ...delivered }: InterruptedGeneration, nowMs: number): Settlement {
  const { generation, request, workspace, key, month, admittedAt, streamed, endpoint, block } = intent;
  const model = owed?.model ?? intent.model;
  // A spool may be found after weeks; no generation lasts longer than its hold.
  const durationMs = Math.min(Math.max(0, Math.round(nowMs - admittedAt)), holdMs);
  const routing = routingOf(intent, model);
  const ids = {
    generation,
    request,
    workspace,
    key,
    ...(endpoint && { endpoint }),
    ...(routing && { routing }),
    ...(block && { block }),
  };
  const facts = { ...ids, month, admittedAt, model, streamed, reserved: intent.amount, durationMs };
  if (!sent || !owed) return { ...uncharged("unknown"), ...facts };
  const { provider, promptTokens } = owed;
  const usage = { ...nothing, ...delivered, promptTokens };
  const priced = owedPrices(owed, usage);
  return { ...facts, ...failed, ...priced, outcome: "settled", provider, usage, usageEstimated: true };
}

/** The calls of a generation are lost with its gateway; the model that was requested is not. */
function routingOf({ requested, model: first }: InterruptedGeneration["intent"], model: string): Settlement["routing"] {
  const asked = requested ?? first;
  return asked === model ? undefined : { requested: asked, attempts: [] };
}

/** For a hold that outlived every stream and that no gateway reports. */
export function expiredSettlement(workspace: string, hold: Hold): Settlement {
  const { generation, key, month, admittedAt, deadline } = hold;
  const facts = { generation, key, month, admittedAt, workspace, request: "unknown", model: "unknown", streamed: false };
  return { ...uncharged("expired"), ...facts, reserved: hold.amount.toString(), durationMs: deadline - admittedAt };
}
