/**
 * Pages and lists that anybody may ask for without a key, and that hold the event loop while they are made: one after the other,
 * with a rest after each that is as long as what it took, twice. So a flood of them takes a third of the loop's time at most.
 */
import { sleep, type Clock } from "../../kernel/clock.ts";
import { renderingRestMsMax, renderingsWaitingMax } from "../limits.ts";
import { ConnectorRefusal } from "./refusal.ts";

const restFactor = 2;

export class Renderings {
  readonly #clock: Clock;
  /** Resolves when the last that was asked for has ended and rested. */
  #last: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ConnectorRefusal 503 where too many wait; what making it throws */
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

function busy(): ConnectorRefusal {
  const detail = "Too many different pages and lists are asked for at present (renderingsWaitingMax): try again shortly";
  return new ConnectorRefusal(503, detail, { "retry-after": "1" });
}
