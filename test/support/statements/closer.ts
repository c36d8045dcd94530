/** Closes statements as metering does, with given holds and a given backlog. */
import { pino } from "pino";
import type { Database } from "../../../src/backing/backing.ts";
import type { Hold } from "../../../src/backing/counters.ts";
import type { Clock, Month } from "../../../src/kernel/clock.ts";
import { closeStatements, type ClosingParts } from "../../../src/gateway/statements/close.ts";
import { ManualClock } from "../clock.ts";

export class Closer {
  /** The months of open requests. */
  openMonths: Month[] = [];
  /** Events of settlements that wait. */
  backlog = 0;
  readonly logged: string[] = [];
  /** What `statement close` does to a closer that runs. */
  ask = (): void => {};
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /** @returns how many workspaces have to wait */
  closeAt(now: string): Promise<number> {
    return closeStatements(this.parts(new ManualClock(Date.parse(now))));
  }

  parts(clock: Clock): ClosingParts {
    return {
      sql: this.#sql,
      bus: {
        backlog: async () => ({ messages: this.backlog }),
        listen: (_topic, wake) => {
          this.ask = () => wake(new Uint8Array());
          return { [Symbol.dispose]() {} };
        },
      },
      counters: { holds: async () => this.openMonths.map(holdOf) },
      clock,
      log: pino({}, { write: (line: string) => void this.logged.push(line) }),
    };
  }
}

function holdOf(month: Month): Hold {
  return { generation: "", fingerprint: "", amount: 1n, key: "", month, admittedAt: 0, deadline: 0 };
}
