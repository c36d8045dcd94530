/**
 * Gets an answer to an admitted request: a whole answer, a stream whose first event has arrived, or a failure. A client that streams waits
 * at most 15 seconds for a first byte; then its stream begins without the provider, and whatever the provider answers, even a failure,
 * becomes an event.
 * A client that leaves before there is anything to send ends the call only where that saves money. A whole answer is waited for, since its
 * provider bills it anyway. A stream is waited for only if and as long as it would be drained (answer/drains.ts), and aborted otherwise.
 */
import type { Clock, StopSignal } from "../../../kernel/clock.ts";
import { firstEventMsMax } from "../../limits.ts";
import type { Candidate } from "../../models/candidate.ts";
import { type ProviderEventStream, UpstreamFailure, type EventReceiver } from "../../providers/provider.ts";
import type { AcquireDrainSlot } from "../answer/drains.ts";
import { Attempts, type Attempt, type AttemptsOptions, type AttemptsResult } from "./attempts.ts";

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

interface AbortableCall {
  readonly candidate: Candidate;
  abort(): void;
}

interface DisconnectOptions {
  call: AbortableCall;
  streamed: boolean;
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** Stops when the process shuts down and cannot wait any longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
  clock: Clock;
}

/**
 * Watches for a client that leaves, until disposed: from then on the stream watches, or the call has ended. The listener stays on the signal, because removing it
 * costs as much as adding it and the signal ends with the request; disposing drops what the listener holds.
 */
function watchDisconnect({
  call: watched,
  streamed,
  clientSignal,
  stop,
  acquireDrainSlot,
  clock,
}: DisconnectOptions): Disposable {
  let call: AbortableCall | null = watched;
  let release = (): void => {};
  let cancelTimer = (): void => {};
  const onDisconnect = (): void => {
    if (call === null) return;
    const slot = acquireDrainSlot(call.candidate, false);
    if (slot === null) return call.abort();
    release = slot.release;
    cancelTimer = clock.after(slot.until - clock.monotonic(), () => call?.abort());
  };
  if (streamed) clientSignal.addEventListener("abort", onDisconnect);
  // The client left before the request was sent: the provider has nothing to bill yet.
  if (clientSignal.aborted) call.abort();
  stop.listen(() => call?.abort());
  return {
    [Symbol.dispose]() {
      call = null;
      stop.listen(null);
      cancelTimer();
      release();
    },
  };
}

interface DeferredStreamParts {
  opening: Promise<AttemptsResult>;
  /** Aborts the opening. */
  abort(): void;
}

/** A stream whose response starts before the provider has answered: the call's outcome, even a failure, becomes an event. */
class DeferredStream implements ProviderEventStream {
  /** null: the stream is open. */
  #parts: DeferredStreamParts | null;
  #events: ProviderEventStream | null = null;
  #over = false;

  constructor(parts: DeferredStreamParts) {
    this.#parts = parts;
  }

  next(receiver: EventReceiver): void {
    if (this.#over) receiver.take([]);
    else if (this.#events !== null) this.#events.next(receiver);
    else if (this.#parts !== null) void this.#open(this.#parts, receiver);
  }

  async cancel(): Promise<void> {
    this.#over = true;
    if (this.#events !== null) return this.#events.cancel();
    this.#parts?.abort();
    const opened = await this.#parts?.opening;
    if (opened?.kind === "stream") await opened.events.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cancel();
  }

  async #open({ opening }: DeferredStreamParts, receiver: EventReceiver): Promise<void> {
    const opened = await opening.catch((error: unknown) => threw(error));
    if (this.#over || opened.kind === "whole") return receiver.take([]);
    if (opened.kind === "failed") {
      this.#over = true;
      return receiver.take([{ kind: "failure", failure: opened.failure }]);
    }
    this.#parts = null;
    this.#events = opened.events;
    opened.events.next(receiver);
  }
}

function threw(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  return { kind: "failed", failure: new UpstreamFailure("upstream_error", "opening the stream threw", null, error) };
}
