/** How generations were resolved in the last minute, so that an admission that arrives late is refused. */
import type { Resolution } from "../../counters.ts";
import type { GenerationId, WorkspaceId } from "../../../kernel/ids.ts";
import { tombstoneMs } from "../../limits.ts";

export interface TombstoneOf {
  workspace: WorkspaceId;
  generation: GenerationId;
}

interface Tombstone {
  as: Resolution;
  untilMs: number;
}

export class Tombstones {
  /** In the order in which they end, for all live equally long. */
  readonly #tombstones = new Map<string, Tombstone>();

  find(of: TombstoneOf, clockMs: number): Resolution | null {
    const found = this.#tombstones.get(nameOf(of));
    return found && found.untilMs >= clockMs ? found.as : null;
  }

  /** The first resolution is the one that did something; a later one only renews the life of its tombstone. */
  leave(of: TombstoneOf, as: Resolution, clockMs: number): void {
    const name = nameOf(of);
    const first = this.find(of, clockMs) ?? as;
    this.#tombstones.delete(name);
    this.#tombstones.set(name, { as: first, untilMs: clockMs + tombstoneMs });
  }

  /** Costs nothing where nothing has ended. */
  forgetEnded(clockMs: number): void {
    for (const [name, { untilMs }] of this.#tombstones) {
      if (untilMs >= clockMs) return;
      this.#tombstones.delete(name);
    }
  }
}

function nameOf({ workspace, generation }: TombstoneOf): string {
  return `${workspace} ${generation}`;
}
