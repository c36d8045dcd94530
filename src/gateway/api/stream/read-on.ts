/** Which streams are read to their end after their client has left: those that tell only there what they cost. */
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { drainMsMax } from "../../limits.ts";
import type { Model, Route } from "../../models/model.ts";
import type { Drains } from "./drain-limit.ts";

/** A place for reading on. */
export interface Place {
  /** Monotonic milliseconds: a minute after the client left, whatever the stream has done since. */
  until: number;
  release(): void;
}

/**
 * Takes a place for reading a stream to its end for nobody; null: this one is to be stopped.
 * @param finished the whole answer is there, and its count is not
 */
export type ReadOn = (route: Route, finished: boolean) => Place | null;

interface ReadOnParts {
  model: Pick<Model, "reasons">;
  workspace: WorkspaceId;
  drains: Drains;
  clock: Clock;
}

/** Whether more may be billed than is seen. Thoughts need not be delivered, and some providers bill on whoever cancels: only their count is true. */
export function hidesOutput({ reasons }: Pick<Model, "reasons">, { provider }: Pick<Route, "provider">): boolean {
  return reasons || !provider.cancelStopsBilling;
}

/** Of one request. */
export function readOnFor({ model, workspace, drains, clock }: ReadOnParts): ReadOn {
  let until: number | null = null;
  return (route, finished) => {
    if (!finished && !hidesOutput(model, route)) return null;
    const release = drains.take(workspace);
    until ??= clock.monotonic() + drainMsMax;
    return release && { until, release };
  };
}
