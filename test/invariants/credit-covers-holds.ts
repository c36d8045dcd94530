import { Notes, type Finding } from "./evidence.ts";
import type { Admitted, Charged, History } from "./history.ts";

/**
 * I-3: whatever is admitted is covered: by the reply of the counters, and by the credit that is there after all that was charged
 * and all that may still be owed. What was charged late, after its hold had been given up, is the one explanation.
 */
export function creditCoversHolds(history: History): Finding {
  const notes = new Notes();
  const spaces = new Map<string, Space>();
  const homes = new Map<string, Space>();
  const spaceOf = (workspace: string): Space => {
    const space = spaces.get(workspace) ?? new Space();
    spaces.set(workspace, space);
    return space;
  };
  for (const event of history) {
    if (event.kind === "credited") spaceOf(event.workspace).balance += event.amount;
    if (event.kind === "reserved") {
      const { generation, available, at } = event;
      notes.check(available >= 0n, () => `${generation}: reserved at ${at} with ${available} left`);
    }
    if (event.kind === "charged") spaceOf(event.workspace).charge(event);
    if (event.kind === "released") homes.get(event.generation)?.open.delete(event.generation);
    if (event.kind === "admitted") {
      const space = spaceOf(event.workspace);
      homes.set(event.generation, space);
      space.admit(event);
      const { generation, workspace, at } = event;
      notes.check(space.available() + space.explained >= 0n, () => {
        const held = space.balance - space.available();
        return `${generation}: admitted at ${at} in ${workspace}, where ${held} may be owed of ${space.balance}`;
      });
    }
  }
  return notes;
}

/** A workspace, reckoned from what was told of it. */
class Space {
  balance = 0n;
  /** Charged outside of reservations. */
  explained = 0n;
  readonly open = new Map<string, bigint>();
  readonly #ended = new Set<string>();

  admit({ generation, amount }: Admitted): void {
    if (!this.#ended.has(generation)) this.open.set(generation, amount);
  }

  charge({ generation, cost, late }: Charged): void {
    this.balance -= cost;
    this.open.delete(generation);
    this.#ended.add(generation);
    if (late) this.explained += cost;
  }

  available(): bigint {
    return [...this.open.values()].reduce((left, amount) => left - amount, this.balance);
  }
}
