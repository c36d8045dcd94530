import type { Notification } from "../../src/backing/bus.ts";

/** Counts the sent notifications by topic. */
export class Notified {
  readonly #counts = new Map<Notification, number>();

  readonly notify = (topic: Notification): void => void this.#counts.set(topic, this.count(topic) + 1);

  count(topic: Notification): number {
    return this.#counts.get(topic) ?? 0;
  }
}
