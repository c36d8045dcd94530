/**
 * Decides which streams are drained, that is read to their end, after their client has left: those whose provider reports the cost only at
 * the end, or bills more than it delivers. Draining takes a slot, and the process and each workspace have a limited number; without one the
 * stream is stopped and its cost estimated. A drain ends a minute after the client left. It keeps no text, so it costs a connection and no
 * memory.
 */
import { HolderCounts } from "../../../accounts/quotas/fair-semaphore.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { drainMsMax, drainsMax, drainsPerWorkspaceMax } from "../../limits.ts";
import type { Candidate } from "../../models/candidate.ts";

export interface DrainSlot {
  /** Monotonic milliseconds: a minute after the client left, even if the stream began later. */
  until: number;
  release(): void;
}

/**
 * Takes a slot for draining a stream; null: the stream is to be stopped, unless its usage is about to come.
 * @param finished the full answer is there, but not its usage
 */
export type AcquireDrainSlot = (candidate: Candidate, finished: boolean) => DrainSlot | null;

interface DrainSlotOptions {
  workspace: WorkspaceId;
  drainLimit: DrainLimit;
  clock: Clock;
}

/** Whether the provider may bill more than it delivers: reasoning need not be delivered, and some providers keep billing after a cancel. */
export function mayHideOutput({ model, route }: Candidate): boolean {
  return model.reasons || !route.provider.cancelStopsBilling;
}

/** The slots of one request. */
export function drainSlotsFor({ workspace, drainLimit, clock }: DrainSlotOptions): AcquireDrainSlot {
  let until: number | null = null;
  return (candidate, finished) => {
    if (!finished && !mayHideOutput(candidate)) return null;
    const release = drainLimit.acquire(workspace);
    until ??= clock.monotonic() + drainMsMax;
    return release && { until, release };
  };
}

/** The slots of a process, in all and for each workspace. */
export class DrainLimit {
  readonly #active = new HolderCounts();
  #total = 0;

  get active(): number {
    return this.#total;
  }

  /** @returns a function that gives the slot back; null: too many streams are being drained */
  acquire(workspace: WorkspaceId): (() => void) | null {
    if (this.#active.of(workspace) >= drainsPerWorkspaceMax || this.#total >= drainsMax) return null;
    this.#add(workspace, 1);
    let taken = true;
    return () => {
      if (taken) this.#add(workspace, -1);
      taken = false;
    };
  }

  #add(workspace: WorkspaceId, change: 1 | -1): void {
    this.#active.add(workspace, change);
    this.#total += change;
  }
}
