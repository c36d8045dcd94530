/** Which streams are read to their end after their client has left: those that tell only there what they cost. */
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { drainMsMax } from "../../limits.ts";
import type { Model, Route } from "../../models/model.ts";
import type { DrainLimit } from "./drain-limit.ts";

/** A place for reading on. */
export interface DrainSlot {
  /** Monotonic milliseconds: a minute after the client left, whatever the stream has done since. */
  until: number;
  release(): void;
}

/**
 * Takes a place for reading a stream to its end for nobody; null: this one is to be stopped.
 * @param finished the whole answer is there, and its count is not
 */
export type AcquireDrainSlot = (route: Route, finished: boolean) => DrainSlot | null;

interface DrainSlotOptions {
  model: Pick<Model, "reasons">;
  workspace: WorkspaceId;
  drainLimit: DrainLimit;
  clock: Clock;
}

/** Whether more may be billed than is seen. Thoughts need not be delivered, and some providers bill on whoever cancels: only their count is true. */
export function mayHideOutput({ reasons }: Pick<Model, "reasons">, { provider }: Pick<Route, "provider">): boolean {
  return reasons || !provider.cancelStopsBilling;
}

/** Of one request. */
export function drainSlotsFor({ model, workspace, drainLimit, clock }: DrainSlotOptions): AcquireDrainSlot {
  let until: number | null = null;
  return (route, finished) => {
    if (!finished && !mayHideOutput(model, route)) return null;
    const release = drainLimit.acquire(workspace);
    until ??= clock.monotonic() + drainMsMax;
    return release && { until, release };
  };
}
