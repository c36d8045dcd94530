/** Closes statements as metering does, beside given holds and a given backlog. */
import { pino } from "pino";
import type { Database } from "../../../src/backing/backing.ts";
import type { Hold } from "../../../src/backing/counters.ts";
import type { Month } from "../../../src/kernel/clock.ts";
import { closeStatements } from "../../../src/gateway/statements/close.ts";
import { ManualClock } from "../clock.ts";

export class Closer {
  /** The months of open requests. */
  openMonths: Month[] = [];
  /** Events of settlements that wait. */
  backlog = 0;
  readonly logged: string[] = [];
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /** @returns how many workspaces have to wait */
  closeAt(now: string): Promise<number> {
    return closeStatements({
      sql: this.#sql,
      bus: { backlog: async () => ({ messages: this.backlog }), listen: () => ({ [Symbol.dispose]() {} }) },
      counters: { holds: async () => this.openMonths.map(holdOf) },
      clock: new ManualClock(Date.parse(now)),
      log: pino({}, { write: (line: string) => void this.logged.push(line) }),
    });
  }
}

function holdOf(month: Month): Hold {
  return { generation: "", fingerprint: "", amount: 1n, key: "", month, admittedAt: 0, deadline: 0 };
}
