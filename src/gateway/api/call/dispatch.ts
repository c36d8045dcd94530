/** Gets an answer to an admitted request, or a stream whose first event has arrived. */
import type { Clock } from "../../../kernel/clock.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import { firstEventMsMax } from "../../limits.ts";
import type { Candidate } from "../../models/routing/candidate.ts";
import type { ProviderEventStream } from "../../providers/provider.ts";
import { Attempts, type Attempt, type AttemptsOptions, type AttemptsResult } from "./attempts.ts";
import { DeferredStream } from "./deferred-stream.ts";
import { watchDisconnect } from "./client-disconnect.ts";
import type { AcquireDrainSlot } from "../stream/drain-slots.ts";

export interface DispatchOptions extends AttemptsOptions {
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
}

export type DispatchResult =
  | Exclude<AttemptsResult, { kind: "stream" }>
  /** `quiet`: the provider has not sent an event yet; its failures are now events of the stream. */
  | { kind: "stream"; candidate: Candidate; calledAt: number; events: ProviderEventStream; quiet: boolean; failed: Attempt[] }
  /** The client left and the call was aborted. */
  | { kind: "disconnected"; candidate: Candidate; failed: Attempt[] };

/** Rejects only with errors that are not a provider's failure. */
export async function dispatch(options: DispatchOptions): Promise<DispatchResult> {
  const { streamed, clientSignal, stop, acquireDrainSlot, clock } = options;
  const attempts = new Attempts(options);
  using _watching = watchDisconnect({ call: attempts, streamed, clientSignal, stop, acquireDrainSlot, clock });
  const opening = attempts.run();
  const opened = streamed ? await openedWithin(clock, opening, clientSignal) : await opening;
  if (opened === "quiet") return deferredStream(attempts, opening);
  if (opened.kind === "failed" && clientSignal.aborted && attempts.givenUp) {
    return { kind: "disconnected", candidate: opened.candidate, failed: opened.failed };
  }
  return opened.kind === "stream" ? { ...opened, quiet: false } : opened;
}

/** A client waits at most 15 s for a first byte. A client that has left gets none. */
async function openedWithin(
  clock: Clock,
  opening: Promise<AttemptsResult>,
  clientSignal: AbortSignal,
): Promise<AttemptsResult | "quiet"> {
  let cancel = (): void => {};
  const quiet = new Promise<"quiet">((resolve) => {
    cancel = clock.after(firstEventMsMax, () => clientSignal.aborted || resolve("quiet"));
  });
  try {
    return await Promise.race([opening, quiet]);
  } finally {
    cancel();
  }
}

function deferredStream(attempts: Attempts, opening: Promise<AttemptsResult>): DispatchResult {
  attempts.disableRetry();
  const events = new DeferredStream({ opening, abort: () => attempts.abort() });
  const { candidate, calledAt, failed } = attempts;
  return { kind: "stream", candidate, calledAt, events, quiet: true, failed };
}
