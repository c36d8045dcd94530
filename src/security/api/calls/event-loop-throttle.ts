/**
 * Lets calls of the tools API in one after the other, and slower while the event loop is busy: who holds it up is not known, and
 * chats go first. Where the loop comes round quickly nobody waits.
 */
import { setImmediate } from "node:timers";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { loopBusyMs, loopRestMsMax, toolsCallWaitMs, toolsCallsWaitingMax, toolsCallsWaitingPerKeyMax } from "../../limits.ts";
import { FairSemaphore } from "../../../accounts/quotas/fair-semaphore.ts";

const restFactor = 2;
const limits = {
  runningMax: 1,
  runningPerHolderMax: 1,
  waitingMax: toolsCallsWaitingMax,
  waitingPerHolderMax: toolsCallsWaitingPerKeyMax,
  waitMs: toolsCallWaitMs,
};

export class EventLoopThrottle {
  readonly #clock: Clock;
  readonly #semaphore: FairSemaphore;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#semaphore = new FairSemaphore({ clock, limits, busy: "Too many calls are under way at present: try again later" });
  }

  /** Resolves when the call may go on; keys take turns. @throws LimitReachedError where too many wait, or too long */
  async admit(key: string): Promise<void> {
    const release = await this.#semaphore.acquire(key);
    void this.wait().finally(release);
  }

  /** Resolves when the loop has come round; where that took long, later. A body is read on only then, and its sender waits meanwhile. */
  async wait(): Promise<void> {
    const began = this.#clock.monotonic();
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const tookMs = this.#clock.monotonic() - began;
    if (tookMs > loopBusyMs) await sleep(this.#clock, Math.min(restFactor * tookMs, loopRestMsMax));
  }
}
