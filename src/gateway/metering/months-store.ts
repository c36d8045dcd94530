/** The monthly partitions of generations, by the times that ids begin with. */
import type { Database } from "../../backing/backing.ts";
import { isoTime, monthBounds, monthOf, type Month } from "../../kernel/clock.ts";
import { timeOfId } from "../../kernel/ids.ts";
import type { Settlement } from "../journal/settlement.ts";
import { idSkewMsMax } from "../limits.ts";

/** With the SQLSTATE of an invalid value: this settlement can never be booked. */
class GenerationTimeError extends Error {
  readonly code = "22023";
}

type Timed = Pick<Settlement, "generation" | "admittedAt">;

/** Remembers which months it has made, so that the database is asked once for each. */
export class GenerationsMonths {
  readonly #sql: Database;
  readonly #made = new Set<Month>();

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /**
   * Makes the months of these generations, if they are missing.
   * @throws Error with SQLSTATE 22023 when retention has deleted such a month, or an id's time is far from its admission
   */
  async make(generations: readonly Timed[]): Promise<void> {
    for (const month of new Set(generations.map(monthOfGeneration))) {
      if (this.#made.has(month)) continue;
      await makeMonth(month, this.#sql);
      this.#made.add(month);
    }
  }
}

/** The gateway's clock made the id, and the counters' clock the time of admission. */
function monthOfGeneration({ generation, admittedAt }: Timed): Month {
  const begunAt = timeOfId(generation);
  if (Math.abs(begunAt - admittedAt) > idSkewMsMax) {
    const times = `its id is of ${isoTime(begunAt)}, and it was admitted at ${isoTime(admittedAt)}`;
    throw new GenerationTimeError(`The clock of the gateway of ${generation} is wrong: ${times}`);
  }
  return monthOf(begunAt);
}

/** Makes this month and the next ahead of need. */
export async function makeMonthsAhead(nowMs: number, sql: Database): Promise<void> {
  await makeMonth(monthOf(nowMs), sql);
  await makeMonth(monthOf(monthBounds(monthOf(nowMs)).endMs), sql);
}

async function makeMonth(month: Month, sql: Database): Promise<void> {
  await sql`SELECT make_generations_month(${month})`;
}
