/**
 * How well each route served in the last day, by real traffic alone. Counted in memory, which costs a request nothing, and
 * shared between gateways by way of the database every few seconds. Measurements, not money: what is lost is not missed.
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
  /** Counted here since the last time that it was shared, and what is being shared now. */
  #unshared: Tallies = new Map();
  #beingShared: Tallies = new Map();
  /** Of all gateways, as read last. */
  #shared: Tallies = new Map();
  #sharing: Promise<void> = Promise.resolve();
  #cancel: (() => void) | null = null;

  constructor(parts: RouteHealthParts) {
    this.#parts = parts;
    this.share();
  }

  /** @param firstTokenMs from calling this route on; null: not timed */
  recordAnswer({ entry }: Route, firstTokenMs: number | null): void {
    const timed = firstTokenMs === null ? {} : { timed: 1, firstTokenMs: Math.round(firstTokenMs) };
    addTally(this.#unshared, entry, { answered: 1, ...timed });
  }

  /** The provider did not answer or broke off. A request that it rejected counts neither way: say nothing of it. */
  recordFailure({ entry }: Route): void {
    addTally(this.#unshared, entry, { failed: 1 });
  }

  /** null: nothing was measured. */
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

  /** Tells the others what was counted here and reads what they told; again after a while. Never rejects. */
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
      this.#shared = await withDeadline(
        clock,
        databaseDeadlineMs,
        "Sharing how routes served",
        this.#exchange(this.#beingShared),
      );
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

  /** Shares a last time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.share();
    this.#cancel?.();
  }
}
