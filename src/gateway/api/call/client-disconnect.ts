/**
 * Watches for a client that leaves before there is anything to send. The gateway waits for a full answer, since its provider bills it
 * anyway. It waits for a stream only if and as long as it would drain it, and aborts it otherwise. `Attempts` does not retry for a client
 * that has left.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import type { Candidate } from "../../models/routing/candidate.ts";
import type { AcquireDrainSlot } from "../stream/drain-slots.ts";

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
 * Watches until disposed: from then on the stream watches, or the call has ended. The listener stays on the signal, because removing it
 * costs as much as adding it and the signal ends with the request; disposing drops what the listener holds.
 */
export function watchDisconnect({
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
