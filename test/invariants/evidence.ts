/** The evidence that checkers need, and their findings. Evidence that a harness cannot gather is null; its checks are then missing in the result. */
import type { AccountPush, BudgetTotal, KeyMonthPush } from "../../src/backing/counters.ts";
import type { Verification } from "../../src/gateway/metering/verify.ts";
import type { Dump } from "../support/counters/harness.ts";
import type { Traces } from "../support/privacy/traces.ts";
import type { History } from "./history.ts";

/** A workspace's counters and its ledger, both at the end of a run. */
export interface Settled {
  workspace: string;
  counters: Dump;
  account: AccountPush;
  keyMonths: KeyMonthPush[];
  /** Absent: none is kept, or they are not known. */
  budgets?: BudgetTotal[];
}

export interface Evidence {
  history: History | null;
  /** The longest time from a decision to its event, and from a change to its first reader, in milliseconds. */
  delayMsMax: number;
  /** The result of `verifyLedger`, as production runs it. */
  stored: Verification | null;
  settled: Settled[] | null;
  secrets: { traces: Traces; canaries: { name: string; text: string }[] } | null;
}

export interface Finding {
  /** How many checks were made. Zero proves nothing. */
  checks: number;
  broken: string[];
}

/** The finding of a checker, filled while it goes through a history. */
export class Notes implements Finding {
  checks = 0;
  readonly broken: string[] = [];

  /** @param problem describes the violation */
  check(holds: boolean, problem: () => string): void {
    this.checks++;
    if (!holds) this.broken.push(problem());
  }
}
