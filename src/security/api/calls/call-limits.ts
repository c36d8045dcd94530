/** What calls of the tools API may use of a process: calls a minute, calls at once, and bytes of bodies. */
import type { Clock } from "../../../kernel/clock.ts";
import * as limits from "../../limits.ts";
import type { Caller } from "../operations/caller.ts";
import type { Operation } from "../operations/operation.ts";
import { ByteBudget, type ByteHolder } from "../../../accounts/quotas/byte-budget.ts";
import { CallRateLimiter, type Counts } from "../../../accounts/quotas/call-rate-limiter.ts";
import { FairSemaphore, type ReleaseSlot } from "../../../accounts/quotas/fair-semaphore.ts";
import { EventLoopThrottle } from "./event-loop-throttle.ts";

interface Options {
  clock: Clock;
  /** Sends counts to the other gateways; absent: there are none. */
  share?: (counts: Counts) => void;
  /** For keys without a limit of their own. */
  perMinuteDefault?: number;
}

export class CallLimits {
  readonly rates: CallRateLimiter;
  /** Bodies in memory. */
  readonly bodies = new ByteBudget({
    totalBytes: limits.toolsBodiesBytesMax,
    perWorkspaceBytes: limits.toolsBodiesPerWorkspaceBytesMax,
    perKeyBytes: limits.toolsBodiesPerKeyBytesMax,
  });
  /** Documents and attachments, in files. */
  readonly documents = new ByteBudget({
    totalBytes: limits.documentsSpooledBytesMax,
    perWorkspaceBytes: limits.documentsSpooledPerWorkspaceBytesMax,
    perKeyBytes: limits.documentsSpooledPerKeyBytesMax,
  });
  /** Delays calls before their first query. */
  readonly loopThrottle: EventLoopThrottle;
  readonly #short: FairSemaphore;
  readonly #long: FairSemaphore;

  constructor(options: Options) {
    const { clock } = options;
    this.rates = new CallRateLimiter(options);
    this.loopThrottle = new EventLoopThrottle(clock);
    this.#short = new FairSemaphore({
      clock,
      limits: shortCalls,
      busy: "Too many calls are running at present: try again later",
    });
    this.#long = new FairSemaphore({
      clock,
      limits: longCalls,
      busy: "Too many imports and uploads are running at present: try again later",
    });
  }

  /** Short calls share fairly among keys, long ones among workspaces; neither waits for the other. @throws LimitReachedError */
  acquire({ deadlineMs }: Operation, caller: Caller): Promise<ReleaseSlot> {
    return deadlineMs > limits.toolsDeadlineMs ? this.acquireLong(caller) : this.#short.acquire(caller.key);
  }

  /** A slot for a call that takes longer than a list. @throws LimitReachedError */
  acquireLong({ workspace }: Caller): Promise<ReleaseSlot> {
    return this.#long.acquire(workspace);
  }
}

export function holderOf({ key, workspace }: Caller): ByteHolder {
  return { key, workspace };
}

const shortCalls = {
  runningMax: limits.toolsCallsRunningMax,
  runningPerHolderMax: limits.toolsCallsRunningPerKeyMax,
  waitingMax: limits.toolsCallsWaitingMax,
  waitingPerHolderMax: limits.toolsCallsWaitingPerKeyMax,
  waitMs: limits.toolsCallWaitMs,
};

const longCalls = {
  runningMax: limits.longCallsRunningMax,
  runningPerHolderMax: limits.longCallsRunningPerWorkspaceMax,
  waitingMax: limits.longCallsWaitingMax,
  waitingPerHolderMax: limits.longCallsWaitingPerWorkspaceMax,
  waitMs: limits.longCallWaitMs,
};
