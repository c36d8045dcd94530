/** A value that a test waits upon: no sleeping, and no waiting for ever. */

const patienceMs = 5_000;

export class Watched<T> {
  value: T;
  readonly #waiting = new Set<() => void>();

  constructor(value: T) {
    this.value = value;
  }

  /** Says that the value may have changed. */
  touch(): void {
    for (const look of this.#waiting) look();
  }

  /** @param what named when it does not come true within five seconds */
  until(condition: (value: T) => boolean, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition(this.value)) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(this.value);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`Waited ${patienceMs} ms in vain for ${what}`));
      }, patienceMs);
      this.#waiting.add(look);
      look();
    });
  }
}
