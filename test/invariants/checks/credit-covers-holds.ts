import { countersDeadlineMs } from "../../../src/backing/limits.ts";
import { ledgerServerAnswerMs } from "../../../src/gateway/limits.ts";
import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, Charged, Credited, History } from "../history.ts";

/**
 * I-3: credit covers each admission, both in the counters' reply and after all charges and all open reservations. The only
 * exceptions are a late charge, which came after its hold had been released, and what was decided before a database that went back in time
 * could be noticed.
 */
export function creditCoversHolds(history: History): Finding {
  const notes = new Notes();
  const spaces = new Map<string, Space>();
  const homes = new Map<string, Space>();
  const reservedAt = new Map<string, number>();
  let restoredAt = -Infinity;
  const spaceOf = (workspace: string): Space => {
    const space = spaces.get(workspace) ?? new Space();
    spaces.set(workspace, space);
    return space;
  };
  for (const event of history) {
    if (event.kind === "credited") spaceOf(event.workspace).balance += event.amount;
    if (event.kind === "restored") {
      restoredAt = event.at;
      for (const lost of event.lost) spaceOf(lost.workspace).lose(lost);
    }
    if (event.kind === "reserved") {
      const { generation, available, at } = event;
      reservedAt.set(generation, at);
      notes.check(available >= 0n, () => `${generation}: reserved at ${at} with ${available} left`);
    }
    if (event.kind === "charged") spaceOf(event.workspace).charge(event);
    if (event.kind === "released") homes.get(event.generation)?.open.delete(event.generation);
    if (event.kind === "admitted") {
      const space = spaceOf(event.workspace);
      homes.set(event.generation, space);
      space.admit(event, (reservedAt.get(event.generation) ?? 0) < restoredAt + noticedMsMax);
      const { generation, workspace, at } = event;
      notes.check(space.available() + space.excepted >= 0n, () => {
        const held = space.balance - space.available();
        return `${generation}: admitted at ${at} in ${workspace}, where ${held} may become due of ${space.balance}`;
      });
    }
  }
  return notes;
}

/** From the first answer of a database that went back to the last decision that could not know, where a question or two was lost. */
const noticedMsMax = 6 * ledgerServerAnswerMs + countersDeadlineMs;

/** A workspace's credit, computed from the events. */
class Space {
  balance = 0n;
  /** Charges outside of reservations. */
  excepted = 0n;
  readonly open = new Map<string, bigint>();
  readonly #ended = new Set<string>();

  admit({ generation, amount }: Admitted, isUnknowing: boolean): void {
    if (this.#ended.has(generation)) return;
    this.open.set(generation, amount);
    const missing = -this.available() - this.excepted;
    if (isUnknowing && missing > 0n) this.excepted += missing;
  }

  lose(lost: Charged | Credited): void {
    this.balance -= lost.kind === "credited" ? lost.amount : -lost.cost;
    if (lost.kind === "charged") this.#ended.delete(lost.generation);
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
