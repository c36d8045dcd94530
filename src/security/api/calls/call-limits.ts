/** What calls of the tools API may take of a process: how often, how many at once, and what their bodies hold. */
import type { Clock } from "../../../kernel/clock.ts";
import * as limits from "../../limits.ts";
import type { Caller } from "../operations/caller.ts";
import type { Operation } from "../operations/operation.ts";
import { ByteBudget, type ByteHolder } from "../../../accounts/quotas/byte-budget.ts";
import { CallWindows, type Counts } from "../../../accounts/quotas/call-windows.ts";
import { FairTurns, type EndTurn } from "../../../accounts/quotas/fair-turns.ts";
import { DoorPace } from "./door-pace.ts";

interface Options {
  clock: Clock;
  /** Tells the other gateways what was counted; absent: there are none. */
  share?: (counts: Counts) => void;
  /** Of keys without a limit of their own. */
  perMinuteDefault?: number;
}

export class CallLimits {
  readonly windows: CallWindows;
  /** Bodies that are held in memory. */
  readonly bodies = new ByteBudget({
    totalBytes: limits.toolsBodiesBytesMax,
    perWorkspaceBytes: limits.toolsBodiesPerWorkspaceBytesMax,
    perKeyBytes: limits.toolsBodiesPerKeyBytesMax,
  });
  /** Documents and attachments, which are held in files. */
  readonly documents = new ByteBudget({
    totalBytes: limits.documentsSpooledBytesMax,
    perWorkspaceBytes: limits.documentsSpooledPerWorkspaceBytesMax,
    perKeyBytes: limits.documentsSpooledPerKeyBytesMax,
  });
  /** Before anything is asked of the database. */
  readonly door: DoorPace;
  readonly #short: FairTurns;
  readonly #long: FairTurns;

  constructor(options: Options) {
    const { clock } = options;
    this.windows = new CallWindows(options);
    this.door = new DoorPace(clock);
    this.#short = new FairTurns({ clock, limits: shortTurns, busy: "Too many calls are under way at present: try again later" });
    this.#long = new FairTurns({
      clock,
      limits: longTurns,
      busy: "Too many imports and uploads are under way at present: try again later",
    });
  }

  /** Short calls are fair among keys, long ones among workspaces, and neither waits for the other. @throws LimitReachedError */
  turn({ deadlineMs }: Operation, caller: Caller): Promise<EndTurn> {
    return deadlineMs > limits.toolsDeadlineMs ? this.longTurn(caller) : this.#short.take(caller.key);
  }

  /** Of what takes longer than a list does. @throws LimitReachedError */
  longTurn({ workspace }: Caller): Promise<EndTurn> {
    return this.#long.take(workspace);
  }
}

export function holderOf({ key, workspace }: Caller): ByteHolder {
  return { key, workspace };
}

const shortTurns = {
  runningMax: limits.toolsCallsRunningMax,
  runningPerHolderMax: limits.toolsCallsRunningPerKeyMax,
  waitingMax: limits.toolsCallsWaitingMax,
  waitingPerHolderMax: limits.toolsCallsWaitingPerKeyMax,
  waitMs: limits.toolsCallWaitMs,
};

const longTurns = {
  runningMax: limits.longCallsRunningMax,
  runningPerHolderMax: limits.longCallsRunningPerWorkspaceMax,
  waitingMax: limits.longCallsWaitingMax,
  waitingPerHolderMax: limits.longCallsWaitingPerWorkspaceMax,
  waitMs: limits.longCallWaitMs,
};
