import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, Charged, History } from "../history.ts";

/**
 * I-3: credit covers each admission, both in the counters' reply and after all charges and all open reservations. The only
 * exception is a late charge, which came after its hold had been released.
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
      notes.check(space.available() + space.excepted >= 0n, () => {
        const held = space.balance - space.available();
        return `${generation}: admitted at ${at} in ${workspace}, where ${held} may become due of ${space.balance}`;
      });
    }
  }
  return notes;
}

/** A workspace's credit, computed from the events. */
class Space {
  balance = 0n;
  /** Charges outside of reservations. */
  excepted = 0n;
  readonly open = new Map<string, bigint>();
  readonly #ended = new Set<string>();

  admit({ generation, amount }: Admitted): void {
    if (!this.#ended.has(generation)) this.open.set(generation, amount);
  }

  charge({ generation, cost, late }: Charged): void {
    this.balance -= cost;
    this.open.delete(generation);
    this.#ended.add(generation);
    if (late) this.excepted += cost;
  }

  available(): bigint {
    return [...this.open.values()].reduce((left, amount) => left - amount, this.balance);
  }
}
