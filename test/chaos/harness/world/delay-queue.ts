/** One direction of a connection. It keeps the order of actions, however long each is delayed. */

/** Resolves when an action that arrived at `arrivedAt` (monotonic ms) may run; null: it may run at once. */
export type Delay = (arrivedAt: number) => Promise<void> | null;

export class DelayQueue {
  readonly #delay: Delay;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(delay: Delay) {
    this.#delay = delay;
  }

  /** The number of delayed actions. */
  get waiting(): number {
    return this.#waiting;
  }

  push(act: () => void): void {
    const arrivedAt = performance.now();
    if (this.#waiting === 0 && this.#delay(arrivedAt) === null) return act();
    this.#waiting++;
    this.#last = this.#last
      .then(() => this.#delay(arrivedAt))
      .then(() => {
        this.#waiting--;
        act();
      });
  }
}
