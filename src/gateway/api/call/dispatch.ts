/** From an admitted request to an answer, or to a stream that has shown its first event. */
import type { Clock } from "../../../kernel/clock.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import { firstEventMsMax } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import type { ProviderEventStream } from "../../providers/provider.ts";
import { Attempts, type Attempt, type AttemptsOptions, type AttemptsResult } from "./attempts.ts";
import { DeferredStream } from "./deferred-stream.ts";
import { watchDisconnect } from "./client-disconnect.ts";
import type { AcquireDrainSlot } from "../stream/drain-slots.ts";

export interface DispatchOptions extends AttemptsOptions {
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** The process ends and can wait no longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
}

export type DispatchResult =
  | Exclude<AttemptsResult, { kind: "stream" }>
  /** `quiet`: the provider has not shown an event yet, and its failures are now events of the stream. */
  | { kind: "stream"; route: Route; calledAt: number; events: ProviderEventStream; quiet: boolean; failed: Attempt[] }
  /** The client left and the call was stopped. Monotonic ms when the request had been sent; null: it never was, and nothing is owed. */
  | { kind: "disconnected"; route: Route; sentAt: number | null; failed: Attempt[] };

/** Rejects only with what is no failure of a provider. */
export async function dispatch(options: DispatchOptions): Promise<DispatchResult> {
  const { streamed, clientSignal, stop, acquireDrainSlot, clock } = options;
  const attempts = new Attempts(options);
  using _watching = watchDisconnect({ call: attempts, streamed, clientSignal, stop, acquireDrainSlot, clock });
  const opening = attempts.run();
  const opened = streamed ? await openedWithin(clock, opening, clientSignal) : await opening;
  if (opened === "quiet") return deferredStream(attempts, opening);
  if (opened.kind === "failed" && clientSignal.aborted && attempts.givenUp) {
    return { kind: "disconnected", route: opened.route, sentAt: attempts.sentAt, failed: opened.failed };
  }
  return opened.kind === "stream" ? { ...opened, quiet: false } : opened;
}

/** A client is left without a byte for 15 s at most; one that has left waits for none. */
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
  const { route, calledAt, failed } = attempts;
  return { kind: "stream", route, calledAt, events, quiet: true, failed };
}
