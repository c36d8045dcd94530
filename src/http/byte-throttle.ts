/** Limits how fast bytes of all senders together are read. */
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { largeBodiesBytesPerSecond } from "./limits.ts";

/** Shorter waits are skipped: timers are no finer, and small bodies should not wait. */
const dueMs = 10;

export class ByteThrottle {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  /** When all bytes so far would have arrived at this rate. */
  #dueAt = 0;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Call after each piece. Resolves when the next one may be read; waiting senders alternate piece by piece. */
  async read(bytes: number): Promise<void> {
    const now = this.#clock.monotonic();
    this.#dueAt = Math.max(now, this.#dueAt) + (bytes / this.#bytesPerSecond) * 1_000;
    const waitMs = this.#dueAt - now;
    if (waitMs > dueMs) await sleep(this.#clock, waitMs);
  }
}

/**
 * Throttles all documents, attachments and refused bodies of this process. Otherwise twenty clients on a fast network would take the
 * cores and the disk of a small machine from chats. It uses the system clock, because it protects the machine.
 */
export const largeBodyThrottle = new ByteThrottle(systemClock, largeBodiesBytesPerSecond);
