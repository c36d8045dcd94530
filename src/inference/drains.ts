/** How many streams are read to their end although their clients have left: bounded for each workspace, so that none takes all. */
import type { WorkspaceId } from "../kernel/ids.ts";
import { drainsMax, drainsPerWorkspaceMax } from "../limits/constants.ts";

export class Drains {
  readonly #active = new Map<WorkspaceId, number>();
  #total = 0;

  get active(): number {
    return this.#total;
  }

  /** @returns what gives the place back, or null when too many are under way */
  take(workspace: WorkspaceId): (() => void) | null {
    const own = this.#active.get(workspace) ?? 0;
    if (own >= drainsPerWorkspaceMax || this.#total >= drainsMax) return null;
    this.#add(workspace, 1);
    let taken = true;
    return () => {
      if (taken) this.#add(workspace, -1);
      taken = false;
    };
  }

  #add(workspace: WorkspaceId, change: 1 | -1): void {
    const own = (this.#active.get(workspace) ?? 0) + change;
    this.#total += change;
    if (own === 0) this.#active.delete(workspace);
    else this.#active.set(workspace, own);
  }
}
