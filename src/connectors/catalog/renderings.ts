/**
 * Makes pages and lists one after another. Anyone may request them without a key, and making them blocks the event loop. After
 * each, the queue rests twice as long as it took, so a flood takes at most a third of the loop's time.
 */
import { sleep, type Clock } from "../../kernel/clock.ts";
import { renderingRestMsMax, renderingsWaitingMax } from "../limits.ts";
import { LimitReachedError } from "../../accounts/quotas/limit-reached.ts";

const restFactor = 2;

export class Renderings {
  readonly #clock: Clock;
  /** Resolves when the last rendering has ended and rested. */
  #last: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws LimitReachedError if the queue is full, or what making the document throws */
  run<T>(make: () => Promise<T>): Promise<T> {
    if (this.#pending > renderingsWaitingMax) throw busy();
    this.#pending++;
    let began = 0;
    const made = this.#last.then(() => {
      began = this.#clock.monotonic();
      return make();
    });
    this.#last = made.then(
      () => this.#rest(began),
      () => this.#rest(began),
    );
    return made;
  }

  async #rest(began: number): Promise<void> {
    const tookMs = this.#clock.monotonic() - began;
    const restMs = Math.min(restFactor * tookMs, renderingRestMsMax);
    if (restMs >= 1) await sleep(this.#clock, restMs);
    this.#pending--;
  }
}

function busy(): LimitReachedError {
  const message = "Too many different pages and lists are requested at present (renderingsWaitingMax): try again shortly";
  return new LimitReachedError(message, { status: 503, retryAfterMs: 1_000 });
}
