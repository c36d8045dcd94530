/**
 * What becomes of a call whose client has left before there was anything to send. A whole answer is waited for: its provider bills
 * it anyway. A stream is waited for as long as it would be read on, and otherwise stopped.
 */
import type { Clock } from "../../../kernel/clock.ts";
import type { Stop } from "../../../kernel/stop-signal.ts";
import type { Route } from "../../models/model.ts";
import type { AcquireDrainSlot } from "../stream/drain-slots.ts";

interface Call {
  readonly route: Route;
  settleForThis(): void;
  abort(): void;
}

interface DisconnectOptions {
  call: Call;
  streamed: boolean;
  /** The request's signal. */
  gone: AbortSignal;
  /** The process ends and can wait no longer. */
  stop: Stop;
  acquireDrainSlot: AcquireDrainSlot;
  clock: Clock;
}

/**
 * Watches until it is disposed: then somebody else does, or the call has ended. The signal keeps its listener, for taking it back
 * costs as much as adding it, and the signal ends with the request; what the listener holds is let go.
 */
export function watchDisconnect({ call: watched, streamed, gone, stop, acquireDrainSlot, clock }: DisconnectOptions): Disposable {
  let call: Call | null = watched;
  let release = (): void => {};
  let cancelTimer = (): void => {};
  const onGone = (): void => {
    if (call === null) return;
    call.settleForThis();
    if (!streamed) return;
    const slot = acquireDrainSlot(call.route, false);
    if (slot === null) return call.abort();
    release = slot.release;
    cancelTimer = clock.after(slot.until - clock.monotonic(), () => call?.abort());
  };
  gone.addEventListener("abort", onGone);
  // Left before anything was sent: there is no bill yet that stopping could come too late for.
  if (gone.aborted) call.abort();
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
