/** How many streams are read to their end although their clients have left: bounded for each workspace, so that none takes all. */
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { drainsMax, drainsPerWorkspaceMax } from "../../limits.ts";
import { HolderCounts } from "../../../accounts/quotas/holder-counts.ts";

export class DrainLimit {
  readonly #active = new HolderCounts();
  #total = 0;

  get active(): number {
    return this.#total;
  }

  /** @returns what gives the place back, or null when too many are under way */
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
