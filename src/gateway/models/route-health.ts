/**
 * How routes perform, from real traffic only: answers, failures and latency of the last day; the output speed, by which a stream that ended
 * without a count is charged; and a cool-down after a route cost more than its reservation. Gateways count in memory, at no cost to a
 * request, and share their counts through the database every few seconds; a lost count does no harm. Speeds and cool-downs stay in their
 * process. No health takes a route out of service: a sole route still serves.
 */
import type { Queries } from "../../backing/backing.ts";
import { databaseDeadlineMs } from "../../backing/limits.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { routeHealthMs, presumedTokensPerSecond, routeSpeedTokensMin, routeSpeedWindowMs, routeCoolDownMs } from "../limits.ts";
import type { Candidate } from "./candidate.ts";
import type { RouteMeasure } from "./listing.ts";
import type { Route } from "./model.ts";
import { addTallies, readTallies, type Tallies, type Tally } from "./store.ts";

interface RouteHealthParts {
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

function addTally(tallies: Tallies, entry: string, added: Partial<Tally>): void {
  const present = tallies.get(entry) ?? { answered: 0, failed: 0, timed: 0, firstTokenMs: 0 };
  tallies.set(entry, {
    answered: present.answered + (added.answered ?? 0),
    failed: present.failed + (added.failed ?? 0),
    timed: present.timed + (added.timed ?? 0),
    firstTokenMs: present.firstTokenMs + (added.firstTokenMs ?? 0),
  });
}

interface Written {
  tokens: number;
  ms: number;
}

/**
 * The output speed of each route, from its provider's token counts. It prices a stream that ended before its provider reported a count.
 * Each process measures for itself, and recent answers weigh most.
 */
export class RouteSpeeds {
  /** Keyed by `Route.entry`. */
  readonly #written = new Map<string, Written>();

  /** Records an answer that was read without delays. @param ms from the call of the route to the end of its answer */
  record({ entry }: Pick<Route, "entry">, { tokens, ms }: Written): void {
    // A short answer takes most of its time before its first token.
    if (tokens < routeSpeedTokensMin) return;
    const sum = this.#written.get(entry) ?? { tokens: 0, ms: 0 };
    const kept = sum.ms > routeSpeedWindowMs ? 0.5 : 1;
    this.#written.set(entry, { tokens: sum.tokens * kept + tokens, ms: sum.ms * kept + Math.max(1, ms) });
  }

  /**
   * Estimates the tokens that the route writes in this time.
   * @param hides whether it may write tokens that it does not send; without measurements a usual speed is then assumed, otherwise 0
   */
  estimateTokens({ entry }: Pick<Route, "entry">, { ms, hides }: { ms: number; hides: boolean }): number {
    const sum = this.#written.get(entry) ?? { tokens: hides ? presumedTokensPerSecond : 0, ms: 1_000 };
    return Math.ceil((sum.tokens / sum.ms) * Math.max(0, ms));
  }
}

/** Routes that cost more than their reservation: other routes of the model are preferred for some time. A sole route still serves. */
export class RouteCoolDown {
  readonly #clock: Clock;
  /** The end of each cool-down in monotonic milliseconds, by `Route.entry`. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin({ entry }: Pick<Route, "entry">): void {
    this.#until.set(entry, this.#clock.monotonic() + routeCoolDownMs);
  }

  /** The same candidates; within each model, those in cool-down come last. */
  preferred(candidates: readonly Candidate[]): readonly Candidate[] {
    if (this.#until.size === 0) return candidates;
    const now = this.#clock.monotonic();
    for (const [entry, until] of this.#until) if (until <= now) this.#until.delete(entry);
    const cooling = ({ route }: Candidate): number => (!route.ownKey && this.#until.has(route.entry) ? 1 : 0);
    const byModel = Map.groupBy(candidates, ({ model }) => model.id);
    return [...byModel.values()].flatMap((some) => some.toSorted((a, b) => cooling(a) - cooling(b)));
  }
}
