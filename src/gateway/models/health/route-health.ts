/**
 * Latency and uptime of each route in the last day, from real traffic only. Gateways count in memory, at no cost to a request, and share
 * their counts through the database every few seconds. A lost count does no harm.
 */
import type { Queries } from "../../../backing/backing.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { databaseDeadlineMs } from "../../../backing/limits.ts";
import { routeHealthMs } from "../../limits.ts";
import type { RouteMeasure } from "../listing.ts";
import type { Route } from "../model.ts";
import { addTallies, readTallies } from "./store.ts";
import { addTally, type Tallies } from "./tally.ts";

export interface RouteHealthParts {
  sql: Queries;
  clock: Clock;
  log: Logger;
}

export class RouteHealth implements AsyncDisposable {
  readonly #parts: RouteHealthParts;
  /** Counts since the last share, and counts that are being shared now. */
  #unshared: Tallies = new Map();
  #beingShared: Tallies = new Map();
  /** Counts of all gateways at the last read. */
  #shared: Tallies = new Map();
  #sharing: Promise<void> = Promise.resolve();
  #cancel: (() => void) | null = null;

  constructor(parts: RouteHealthParts) {
    this.#parts = parts;
    this.share();
  }

  /** @param firstTokenMs time from the call of this route; null: not timed */
  recordAnswer({ entry }: Route, firstTokenMs: number | null): void {
    const timed = firstTokenMs === null ? {} : { timed: 1, firstTokenMs: Math.round(firstTokenMs) };
    addTally(this.#unshared, entry, { answered: 1, ...timed });
  }

  /** Call it when the provider did not answer or broke off, not when it rejected the request. */
  recordFailure({ entry }: Route): void {
    addTally(this.#unshared, entry, { failed: 1 });
  }

  /** null: not measured. */
  measure({ entry }: Pick<Route, "entry">): RouteMeasure | null {
    const sum: Tallies = new Map();
    for (const tallies of [this.#shared, this.#beingShared, this.#unshared]) addTally(sum, entry, tallies.get(entry) ?? {});
    const { answered = 0, failed = 0, timed = 0, firstTokenMs = 0 } = sum.get(entry) ?? {};
    if (answered + failed === 0) return null;
    return {
      latencyMs: timed === 0 ? null : Math.round(firstTokenMs / timed),
      uptimePercent: Math.round((answered / (answered + failed)) * 10_000) / 100,
    };
  }

  /** Writes this gateway's counts and reads those of all gateways, now and again after a pause. Never rejects. */
  share(): Promise<void> {
    this.#cancel?.();
    this.#sharing = this.#sharing.then(() => this.#shareNow());
    this.#cancel = this.#parts.clock.after(routeHealthMs, () => void this.share());
    return this.#sharing;
  }

  async #shareNow(): Promise<void> {
    const { clock, log } = this.#parts;
    [this.#beingShared, this.#unshared] = [this.#unshared, new Map()];
    try {
      this.#shared = await withDeadline(clock, databaseDeadlineMs, "Sharing route health", this.#exchange(this.#beingShared));
    } catch (error) {
      for (const [entry, tally] of this.#beingShared) addTally(this.#unshared, entry, tally);
      log.warn({ event: "route_health.not_shared", reason: error instanceof Error ? error.message : String(error) });
    }
    this.#beingShared = new Map();
  }

  async #exchange(tallies: Tallies): Promise<Tallies> {
    const { sql, clock } = this.#parts;
    const nowMs = clock.now();
    if (tallies.size > 0) await addTallies({ tallies, nowMs }, sql);
    return readTallies(nowMs, sql);
  }

  /** Shares one last time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.share();
    this.#cancel?.();
  }
}
