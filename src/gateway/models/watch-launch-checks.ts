/** This process's copy of the launch checks, read again at each notification, and regularly since a notification may be lost. */
import type { Queries } from "../../backing/backing.ts";
import type { Bus } from "../../backing/bus.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { launchChecksPollMs, launchChecksReadMs, launchChecksRetryMs } from "../limits.ts";
import { readLaunchChecks, type LaunchCheck } from "./store.ts";

export interface LaunchCheckSources {
  sql: Queries;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

/** Reads once before it resolves. Checks that cannot be read count as missing, so their models are not callable. */
export async function watchLaunchChecks(sources: LaunchCheckSources): Promise<LaunchCheckWatch> {
  const watch = new LaunchCheckWatch(sources);
  await watch.refresh();
  return watch;
}

export class LaunchCheckWatch implements Disposable {
  readonly #sources: LaunchCheckSources;
  readonly #subscription: Disposable;
  #checks: ReadonlyMap<string, LaunchCheck> = new Map();
  #reads = 0;
  /** The number of the read whose result is current. */
  #current = 0;
  #cancel: (() => void) | null = null;
  #disposed = false;

  constructor(sources: LaunchCheckSources) {
    this.#sources = sources;
    this.#subscription = sources.bus.listen("checks-changed", () => void this.refresh());
  }

  /** By `Route.entry`. */
  current(): ReadonlyMap<string, LaunchCheck> {
    return this.#checks;
  }

  /**
   * Reads now, and again after a pause. If the database does not answer, the previous checks stay and the pause is short, since a process
   * that started without the database has no callable model until then.
   */
  async refresh(): Promise<void> {
    this.#cancel?.();
    const nextMs = (await this.#read()) ? launchChecksPollMs : launchChecksRetryMs;
    this.#cancel?.();
    if (!this.#disposed) this.#cancel = this.#sources.clock.after(nextMs, () => void this.refresh());
  }

  async #read(): Promise<boolean> {
    const { sql, clock, log } = this.#sources;
    const number = ++this.#reads;
    try {
      const checks = await withDeadline(clock, launchChecksReadMs, "Reading launch checks", readLaunchChecks(sql));
      // A slow read that began earlier may end later, and has older checks.
      if (number > this.#current) [this.#current, this.#checks] = [number, checks];
      return true;
    } catch (error) {
      log.warn({ reason: error instanceof Error ? error.message : String(error) }, "launch checks not read");
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancel?.();
    this.#subscription[Symbol.dispose]();
  }
}
