/** One direction of a connection: what happens on it happens in its order, however long each thing is held up. */

/** Resolves when what came at `arrivedAt` (monotonic ms) may go on; null: it may at once. */
export type Delay = (arrivedAt: number) => Promise<void> | null;

export class DelayQueue {
  readonly #delay: Delay;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(delay: Delay) {
    this.#delay = delay;
  }

  /** How much is held up. */
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
