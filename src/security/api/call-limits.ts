/**
 * What calls of the tools API may use of a process: calls per minute, concurrent calls, and bytes of bodies.
 *
 * Short calls are shared fairly among keys, long ones among workspaces, and neither waits for the other. Keys take turns, so clients need
 * not count their own calls. While the event loop is busy, calls are admitted more slowly, because chats come first. The throttle cannot
 * tell which work keeps the loop busy. While the loop is idle, no call waits. The gateways of a fleet share the calls per minute by
 * exchanging their counts, so a key may exceed its limit by what others have not yet reported.
 */
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers";
import { ByteBudget, type ByteHolder } from "../../accounts/quotas/byte-budget.ts";
import { CallRateLimiter, type Counts } from "../../accounts/quotas/call-rate-limiter.ts";
import { FairSemaphore, type ReleaseSlot } from "../../accounts/quotas/fair-semaphore.ts";
import type { Bus } from "../../backing/bus.ts";
import { type Clock, sleep } from "../../kernel/clock.ts";
import * as limits from "../limits.ts";
import { loopBusyMs, loopRestMsMax, toolsCallWaitMs, toolsCallsWaitingMax, toolsCallsWaitingPerKeyMax } from "../limits.ts";
import type { Caller, Operation } from "../operation.ts";

interface Options {
  clock: Clock;
  /** Sends counts to the other gateways; absent: there are none. */
  share?: (counts: Counts) => void;
  /** For keys without a limit. */
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

  /** Short calls are shared fairly among keys, long ones among workspaces; neither waits for the other. @throws LimitReachedError */
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

/** A rest lasts this many times as long as the busy turn before it. */
const restFactor = 2;
const throttleTurns = {
  runningMax: 1,
  runningPerHolderMax: 1,
  waitingMax: toolsCallsWaitingMax,
  waitingPerHolderMax: toolsCallsWaitingPerKeyMax,
  waitMs: toolsCallWaitMs,
};

class EventLoopThrottle {
  readonly #clock: Clock;
  readonly #semaphore: FairSemaphore;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#semaphore = new FairSemaphore({
      clock,
      limits: throttleTurns,
      busy: "Too many calls are running at present: try again later",
    });
  }

  /** Resolves when the call may continue; keys take turns. @throws LimitReachedError if too many calls wait, or one waits too long */
  async admit(key: string): Promise<void> {
    const release = await this.#semaphore.acquire(key);
    void this.wait().finally(release);
  }

  /** Resolves after a turn of the loop, or later if that turn was long. Only then is the next piece of a body read. */
  async wait(): Promise<void> {
    const began = this.#clock.monotonic();
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const tookMs = this.#clock.monotonic() - began;
    if (tookMs > loopBusyMs) await sleep(this.#clock, Math.min(restFactor * tookMs, loopRestMsMax));
  }
}

/** Call limits whose counts go to all other gateways of the fleet. */
export function sharedCallLimits(bus: Pick<Bus, "broadcast" | "listen">, clock: Clock): CallLimits {
  const own = randomUUID();
  const share = (counts: Counts): void => bus.broadcast("tools-calls", encoder.encode(JSON.stringify([own, counts])));
  const limits = new CallLimits({ clock, share });
  bus.listen("tools-calls", (payload) => {
    const { gateway, counts } = decodeCounts(payload);
    if (gateway !== own) limits.rates.addOthers(counts);
  });
  return limits;
}

const encoder = new TextEncoder();

/** Only gateways write it, so its type holds. */
function decodeCounts(payload: Uint8Array): { gateway: string; counts: Counts } {
  const [gateway, counts] = JSON.parse(new TextDecoder().decode(payload)) as [string, Counts];
  return { gateway, counts };
}
