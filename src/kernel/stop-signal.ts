/**
 * A wish that something ends, told once to whoever carries it out at the time. An AbortController does the same for any number
 * of listeners, at a price that a request of the hot path would pay five times over.
 */
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

  /** Calls `listener` when it is to stop, at once where that is so already. It takes the place of the one before; null: of none. */
  listen(listener: (() => void) | null): void {
    this.#listener = listener;
    if (this.#stopped) listener?.();
  }
}
