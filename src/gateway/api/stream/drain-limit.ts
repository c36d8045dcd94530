/** Limits how many streams the gateway drains (reads to their end after the client left), in all and for each workspace. */
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { drainsMax, drainsPerWorkspaceMax } from "../../limits.ts";
import { HolderCounts } from "../../../accounts/quotas/holder-counts.ts";

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
