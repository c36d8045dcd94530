/** From an admitted request to an answer, or to a stream that has shown its first event. */
import type { Clock } from "../kernel/clock.ts";
import type { Stop } from "../kernel/stop.ts";
import { firstEventMsMax } from "../limits/constants.ts";
import type { Route } from "../models/model.ts";
import type { EventSource } from "../providers/provider.ts";
import { Attempts, type Attempt, type AttemptsOptions, type Opened } from "./attempts.ts";
import type { Drains } from "./drains.ts";
import { LateStream } from "./late-stream.ts";
import { watchLeaving } from "./leaving.ts";

export interface DispatchOptions extends AttemptsOptions {
  /** The request's signal. */
  gone: AbortSignal;
  /** The process ends and can wait no longer. */
  stop: Stop;
  drains: Drains;
  clock: Clock;
}

export type Dispatched =
  | Exclude<Opened, { kind: "stream" }>
  /** `quiet`: the provider has not shown an event yet, and its failures are now events of the stream. */
  | { kind: "stream"; route: Route; events: EventSource; quiet: boolean; failed: Attempt[] }
  /** The client left and the call was stopped: nothing is owed, and nobody reads an answer. */
  | { kind: "gone"; route: Route; failed: Attempt[] };

/** Rejects only with what is no failure of a provider. */
export async function dispatch(options: DispatchOptions): Promise<Dispatched> {
  const { gone, stop, drains, clock } = options;
  const attempts = new Attempts(options);
  using _leaving = watchLeaving({ call: attempts, gone, stop, drains, clock });
  const opening = attempts.run();
  const opened = options.streamed ? await within(clock, opening) : await opening;
  if (opened === "quiet") return lateStream(attempts, opening);
  if (opened.kind === "failed" && gone.aborted) return { kind: "gone", route: opened.route, failed: opened.failed };
  return opened.kind === "stream" ? { ...opened, quiet: false } : opened;
}

/** A client is left without a byte for 15 s at most. */
async function within(clock: Clock, opening: Promise<Opened>): Promise<Opened | "quiet"> {
  let cancel = (): void => {};
  const quiet = new Promise<"quiet">((resolve) => (cancel = clock.after(firstEventMsMax, () => resolve("quiet"))));
  try {
    return await Promise.race([opening, quiet]);
  } finally {
    cancel();
  }
}

function lateStream(attempts: Attempts, opening: Promise<Opened>): Dispatched {
  attempts.settleForThis();
  const events = new LateStream({ opening, abort: () => attempts.abort() });
  return { kind: "stream", route: attempts.route, events, quiet: true, failed: attempts.failed };
}
