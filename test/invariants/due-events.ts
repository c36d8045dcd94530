/** Events of a history that say what clients owe. */
import type { GenerationId, WorkspaceId } from "../../src/kernel/ids.ts";
import type { NanoUsd } from "../../src/kernel/money.ts";

/** The least amount that a client owes if it hangs up now, after the provider got the request. The last event of a generation counts. */
export interface Owed {
  kind: "owed";
  generation: GenerationId;
  /** Zero where the provider failed by itself. */
  amount: NanoUsd;
}

/** A gateway ended a call whose provider had the request and did not answer in time. */
export interface TimedOut {
  kind: "timed out";
  generation: GenerationId;
  workspace: WorkspaceId;
  /** Its process. */
  gateway: string;
  /** The price of what was delivered; with an own key zero. */
  delivered: NanoUsd;
  /** What a client would owe that left at this moment; with an own key zero. */
  due: NanoUsd;
  /** What a process leaves a workspace unpaid in an hour. */
  allowance: NanoUsd;
}
