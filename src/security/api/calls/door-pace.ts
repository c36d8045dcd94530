/**
 * Lets calls of the tools API in one after the other, and slower while the event loop is busy: who holds it up is not known, and
 * chats go first. Where the loop comes round quickly nobody waits.
 */
import { setImmediate } from "node:timers";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { loopBusyMs, loopRestMsMax, toolsCallWaitMs, toolsCallsWaitingMax, toolsCallsWaitingPerKeyMax } from "../../limits.ts";
import { FairTurns } from "../../../accounts/quotas/fair-turns.ts";

const restFactor = 2;
const limits = {
  runningMax: 1,
  runningPerHolderMax: 1,
  waitingMax: toolsCallsWaitingMax,
  waitingPerHolderMax: toolsCallsWaitingPerKeyMax,
  waitMs: toolsCallWaitMs,
};

export class DoorPace {
  readonly #clock: Clock;
  readonly #turns: FairTurns;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turns = new FairTurns({ clock, limits, busy: "Too many calls are under way at present: try again later" });
  }

  /** Resolves when the call may go on; keys take turns. @throws LimitReachedError where too many wait, or too long */
  async enter(key: string): Promise<void> {
    const end = await this.#turns.take(key);
    void this.breathe().finally(end);
  }

  /** Resolves when the loop has come round; where that took long, later. A body is read on only then, and its sender waits meanwhile. */
  async breathe(): Promise<void> {
    const began = this.#clock.monotonic();
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const tookMs = this.#clock.monotonic() - began;
    if (tookMs > loopBusyMs) await sleep(this.#clock, Math.min(restFactor * tookMs, loopRestMsMax));
  }
}
