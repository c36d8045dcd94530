/** Tells the trace of a generation that ended. */
import type { Reservation } from "../credit/reservation.ts";
import type { Settlement } from "../journal/settlement.ts";
import type { Clock } from "../../kernel/clock.ts";
import { spanSince, traces, wallTimes, type TracedCall, type TraceStart } from "../../kernel/telemetry/traces.ts";
import { chargeOf } from "../metering/charge.ts";
import type { Candidate } from "../models/routing/candidate.ts";
import type { Attempt } from "./call/attempts.ts";

/** What the lifecycle knows of a request whose trace began. All times are of the monotonic clock. */
export interface EndedGeneration {
  trace: TraceStart;
  decision: { askedAt: number; decidedAt: number };
  reservation: Reservation;
  settlement: Settlement;
  requestedModel: string;
  /** When the provider was first called, and last. */
  firstCallAt: number;
  lastCallAt: number;
  /** The calls that failed; the last one may also be the current one. */
  failed: readonly Attempt[];
  calls: number;
  /** Of the last call; null: none. */
  candidate: Candidate | null;
}

export function traceGeneration(ended: EndedGeneration, clock: Clock): void {
  const { trace, decision, reservation, settlement, requestedModel } = ended;
  const wall = wallTimes(clock);
  const { usage, endpoint } = settlement;
  traces()?.generation({
    generation: reservation.generation,
    workspace: reservation.workspace,
    key: reservation.key,
    traceparent: trace.traceparent,
    path: trace.path,
    operation: endpoint === undefined ? "chat" : endpoint === "completions" ? "text_completion" : "embeddings",
    model: requestedModel,
    streamed: settlement.streamed,
    from: wall(trace.receivedAt),
    to: wall(clock.monotonic()),
    admission: { from: wall(decision.askedAt), to: wall(decision.decidedAt) },
    calls: callsOf(ended, clock),
    firstTokenMs: settlement.firstTokenMs,
    status: settlement.status,
    code: settlement.code,
    tokens: {
      prompt: usage.promptTokens,
      cached: usage.cachedTokens,
      cacheWrite: usage.cacheWriteTokens,
      completion: usage.completionTokens,
    },
    charged: chargeOf(settlement).cost,
  });
}

/** A call that was given up before it began is among the failures and was never made. */
function callsOf({ failed, calls, candidate, settlement, firstCallAt, lastCallAt }: EndedGeneration, clock: Clock): TracedCall[] {
  const wall = wallTimes(clock);
  const made = failed.slice(0, calls).map(({ candidate: tried, failure, ms }, index): TracedCall => {
    const from = wall(index === calls - 1 ? lastCallAt : firstCallAt);
    return { ...addressOf(tried), code: failure.code, from, to: from + ms };
  });
  if (made.length >= calls || candidate === null) return made;
  return [...made, { ...addressOf(candidate), code: settlement.code, ...spanSince(lastCallAt, clock) }];
}

function addressOf({ route }: Candidate): Pick<TracedCall, "provider" | "model" | "baseUrl"> {
  return { provider: route.provider.id, model: route.upstreamModel, baseUrl: route.provider.baseUrl };
}
