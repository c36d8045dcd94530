/** What checkers look at, and what they say. Whatever a harness cannot gather is null, and says so in the result. */
import type { AccountPush, KeyMonthPush } from "../../src/backing/counters.ts";
import type { Verification } from "../../src/gateway/metering/verify.ts";
import type { Dump } from "../support/counters/harness.ts";
import type { Traces } from "../support/traces.ts";
import type { History } from "./history.ts";

/** A workspace's counters beside what the ledger says of it, both when all is quiet. */
export interface Settled {
  workspace: string;
  counters: Dump;
  account: AccountPush;
  keyMonths: KeyMonthPush[];
}

export interface Evidence {
  history: History | null;
  /** From a decision to what is noted of it, and from a change to its first reader: the longest, in milliseconds. */
  delayMsMax: number;
  /** Of `verifyLedger`, as production runs it. */
  stored: Verification | null;
  settled: Settled[] | null;
  secrets: { traces: Traces; canaries: { name: string; text: string }[] } | null;
}

export interface Finding {
  /** How many things could have broken it: none proves nothing. */
  checks: number;
  broken: string[];
}

/** What a checker notes while it goes through a history. */
export class Notes implements Finding {
  checks = 0;
  readonly broken: string[] = [];

  /** @param problem told where it does not hold */
  check(holds: boolean, problem: () => string): void {
    this.checks++;
    if (!holds) this.broken.push(problem());
  }
}
