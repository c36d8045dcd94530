/** A value that a test waits for, with a time limit and without sleeping. */

const patienceMs = 5_000;

export class Watched<T> {
  value: T;
  readonly #waiting = new Set<() => void>();

  constructor(value: T) {
    this.value = value;
  }

  /** Reports that the value may have changed. */
  touch(): void {
    for (const look of this.#waiting) look();
  }

  /** @param what named in the error if the condition is not met within five seconds */
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
