/**
 * Admits calls of the tools API one by one, and slower while the event loop is busy, because chats come first. It cannot know which
 * work keeps the loop busy. While the loop is idle, no call waits.
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
    this.#semaphore = new FairSemaphore({ clock, limits, busy: "Too many calls are running at present: try again later" });
  }

  /** Resolves when the call may continue; keys alternate. @throws LimitReachedError if too many calls wait, or one too long */
  async admit(key: string): Promise<void> {
    const release = await this.#semaphore.acquire(key);
    void this.wait().finally(release);
  }

  /** Resolves after a turn of the loop, and later if that turn was long. The next piece of a body is read only then. */
  async wait(): Promise<void> {
    const began = this.#clock.monotonic();
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const tookMs = this.#clock.monotonic() - began;
    if (tookMs > loopBusyMs) await sleep(this.#clock, Math.min(restFactor * tookMs, loopRestMsMax));
  }
}
