import { DeadlineError, type Clock } from "../../kernel/clock.ts";

/** Lets at most `places` in at a time; who comes later waits in line, in order, for at most `waitMsMax`. */
export class Semaphore {
  readonly #clock: Clock;
  readonly #waitMsMax: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor({ places, waitMsMax, clock }: { places: number; waitMsMax: number; clock: Clock }) {
    this.#free = places;
    this.#waitMsMax = waitMsMax;
    this.#clock = clock;
  }

  /**
   * Waits for a place.
   * @returns what gives it back, to be called once
   * @throws DeadlineError when none became free in time
   */
  acquire(): Promise<() => void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(() => this.#release());
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        cancel();
        resolve(() => this.#release());
      };
      const cancel = this.#clock.after(this.#waitMsMax, () => {
        this.#waiting.delete(enter);
        reject(new DeadlineError(`No database connection became free within ${this.#waitMsMax} ms`));
      });
      this.#waiting.add(enter);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
