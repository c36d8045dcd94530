/**
 * Asks work to stop, and notifies one listener at a time. An AbortController serves any number of listeners, at a cost that each
 * request of the hot path would pay five times.
 */

/** Stops once; the listener may change. */
export class StopSignal {
  #stopped = false;
  #listener: (() => void) | null = null;

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener?.();
  }

  /** Calls `listener` at the stop, or at once after it. Replaces the previous listener; null removes it. */
  listen(listener: (() => void) | null): void {
    this.#listener = listener;
    if (this.#stopped) listener?.();
  }
}
