/** How fast bytes are read of several senders together. */
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { largeBodiesBytesPerSecond } from "./limits.ts";

/** What is due within this time is not waited for: timers are no finer, and small bodies wait for nothing. */
const dueMs = 10;

export class ByteThrottle {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  /** When everything that was read so far would have been read at this pace. */
  #dueAt = 0;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Call after each piece. Resolves when the next one may be read: senders that wait take turns by pieces. */
  async read(bytes: number): Promise<void> {
    const now = this.#clock.monotonic();
    this.#dueAt = Math.max(now, this.#dueAt) + (bytes / this.#bytesPerSecond) * 1_000;
    const waitMs = this.#dueAt - now;
    if (waitMs > dueMs) await sleep(this.#clock, waitMs);
  }
}

/**
 * All documents, attachments and refused bodies of this process. Without it twenty clients on a quick network take the cores and
 * the disk of a small machine from chats. In the machine's own time, for that is what is shared.
 */
export const largeBodyThrottle = new ByteThrottle(systemClock, largeBodiesBytesPerSecond);
