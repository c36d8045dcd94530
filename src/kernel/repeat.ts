/**
 * Work that a process repeats in the background, with pauses between the rounds. A notification ends the pause; a failed round is logged by
 * its owner, and followed by a longer pause if so configured. Disposing waits for the round under way.
 */
import { sleep, type Clock } from "./clock.ts";

export interface Repetition {
  clock: Clock;
  /** One round. It should end early when `signal` aborts. */
  round: (signal: AbortSignal) => Promise<unknown>;
  /** The pause between two rounds. */
  everyMs: number;
  /** Whether a pause comes before the first round. */
  pauseFirst?: boolean;
  /** Subscribes to notifications: one ends the pause, and one that arrives during a round skips the pause after it. */
  wakeOn?: (wake: () => void) => Disposable;
  /** The pause after this many failed rounds in a row; no notification ends it. Without it, a failed round is followed by `everyMs`. */
  retryMs?: (failures: number) => number;
  onError: (error: unknown) => void;
}

/** Repeats until disposed. Disposing ends the pause, and waits for the round under way. */
export function repeatUntilStopped(repetition: Repetition): AsyncDisposable {
  const stop = new AbortController();
  const ended = repeat(repetition, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function repeat(repetition: Repetition, signal: AbortSignal): Promise<void> {
  const { clock, round, everyMs, pauseFirst = false, wakeOn, retryMs, onError } = repetition;
  let pause = new AbortController();
  const wake = (): void => pause.abort();
  using _listening = wakeOn?.(wake);
  signal.addEventListener("abort", wake);
  if (pauseFirst) await sleep(clock, everyMs, pause.signal);
  for (let failures = 0; !signal.aborted;) {
    pause = new AbortController();
    try {
      await round(signal);
      failures = 0;
    } catch (error) {
      failures++;
      onError(error);
    }
    if (signal.aborted) return;
    if (failures > 0 && retryMs) await sleep(clock, retryMs(failures), signal);
    else await sleep(clock, everyMs, pause.signal);
  }
}
