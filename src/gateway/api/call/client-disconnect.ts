/**
 * What becomes of a call whose client has left before there was anything to send. A whole answer is waited for: its provider bills
 * it anyway. A stream is waited for as long as it would be read on, and otherwise stopped.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import type { Route } from "../../models/model.ts";
import type { AcquireDrainSlot } from "../stream/drain-slots.ts";

interface AbortableCall {
  readonly route: Route;
  disableRetry(): void;
  abort(): void;
}

interface DisconnectOptions {
  call: AbortableCall;
  streamed: boolean;
  /** The request's signal. */
  clientSignal: AbortSignal;
  /** The process ends and can wait no longer. */
  stop: StopSignal;
  acquireDrainSlot: AcquireDrainSlot;
  clock: Clock;
}

/**
 * Watches until it is disposed: then somebody else does, or the call has ended. The signal keeps its listener, for taking it back
 * costs as much as adding it, and the signal ends with the request; what the listener holds is let go.
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
    call.disableRetry();
    if (!streamed) return;
    const slot = acquireDrainSlot(call.route, false);
    if (slot === null) return call.abort();
    release = slot.release;
    cancelTimer = clock.after(slot.until - clock.monotonic(), () => call?.abort());
  };
  clientSignal.addEventListener("abort", onDisconnect);
  // Left before anything was sent: there is no bill yet that stopping could come too late for.
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
