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
  /** In the order in which they expire, for all have the same lifetime. */
  readonly #tombstones = new Map<string, Tombstone>();

  find(of: TombstoneOf, clockMs: number): Resolution | null {
    const found = this.#tombstones.get(nameOf(of));
    return found && found.untilMs >= clockMs ? found.as : null;
  }

  /** Only the first resolution releases the hold; a later one just renews the lifetime of the tombstone. */
  leave(of: TombstoneOf, as: Resolution, clockMs: number): void {
    const name = nameOf(of);
    const first = this.find(of, clockMs) ?? as;
    this.#tombstones.delete(name);
    this.#tombstones.set(name, { as: first, untilMs: clockMs + tombstoneMs });
  }

  /** Costs nothing where none has expired. */
  dropExpired(clockMs: number): void {
    for (const [name, { untilMs }] of this.#tombstones) {
      if (untilMs >= clockMs) return;
      this.#tombstones.delete(name);
    }
  }
}

function nameOf({ workspace, generation }: TombstoneOf): string {
  return `${workspace} ${generation}`;
}
