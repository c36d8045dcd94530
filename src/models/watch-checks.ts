/** Keeps the launch checks as the database has them, looking again every few seconds and when told that they changed. */
import type { Bus } from "../backing/bus.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { catalogPollMs, databaseDeadlineMs } from "../limits/constants.ts";
import type { LaunchChecks } from "./models.ts";

interface WatchChecksParts {
  read: () => Promise<LaunchChecks>;
  bus: Bus;
  clock: Clock;
  log: Logger;
}

export class ChecksWatch implements Disposable {
  readonly #parts: WatchChecksParts;
  readonly #listening: Disposable;
  #checks: LaunchChecks = new Map();
  #cancel = (): void => {};
  #disposed = false;

  constructor(parts: WatchChecksParts) {
    this.#parts = parts;
    this.#listening = parts.bus.listen("checks-changed", () => void this.look());
  }

  current(): LaunchChecks {
    return this.#checks;
  }

  /** Reads now, and again after a while; while the database is down what was read last stands. */
  async look(): Promise<void> {
    const { read, clock, log } = this.#parts;
    this.#cancel();
    try {
      this.#checks = await withDeadline(clock, databaseDeadlineMs, "Reading launch checks", read());
    } catch (error) {
      log.debug({ event: "launch_checks.unavailable", reason: String(error) });
    }
    if (!this.#disposed) this.#cancel = clock.after(catalogPollMs, () => void this.look());
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancel();
    this.#listening[Symbol.dispose]();
  }
}
