/**
 * What becomes of a call whose client has left before there was anything to send: stopped where that stops the bill too,
 * otherwise waited for, within limits, so that what was bought is settled.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Stop } from "../kernel/stop.ts";
import { drainMsMax } from "../limits/constants.ts";
import type { Route } from "../models/model.ts";
import type { Drains } from "./drains.ts";

interface Call {
  readonly route: Route;
  settleForThis(): void;
  abort(): void;
}

interface LeavingOptions {
  call: Call;
  /** The request's signal. */
  gone: AbortSignal;
  /** The process ends and can wait no longer. */
  stop: Stop;
  drains: Drains;
  clock: Clock;
}

/**
 * Watches until it is disposed: then somebody else does, or the call has ended. The signal keeps its listener, for taking it back
 * costs as much as adding it, and the signal ends with the request; what the listener holds is let go.
 */
export function watchLeaving({ call: watched, gone, stop, drains, clock }: LeavingOptions): Disposable {
  let call: Call | null = watched;
  let release = (): void => {};
  let cancelTimer = (): void => {};
  const onGone = (): void => {
    if (call === null) return;
    call.settleForThis();
    const taken = call.route.provider.cancelStopsBilling ? null : drains.take();
    if (taken === null) return call.abort();
    release = taken;
    cancelTimer = clock.after(drainMsMax, () => call?.abort());
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
