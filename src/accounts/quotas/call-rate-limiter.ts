/**
 * Calls of each key within the last minute. Every gateway counts its own and tells the others a few times a second, so that in a
 * fleet the limit holds for all of them together but for what is under way; where the bus is away each counts for itself.
 */
import type { Clock } from "../../kernel/clock.ts";
import { toolsCallsPerMinuteDefault, toolsCallsShareMs, toolsKeysCountedMax } from "../limits.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { LimitReachedError } from "./limit-reached.ts";

/** How often a key called; keys by their hashes. */
export type Counts = readonly (readonly [key: string, calls: number])[];

interface Window {
  /** When each counted call was, on the monotonic clock; those before `from` have left. */
  times: number[];
  from: number;
  /** null: not known here, for another gateway counted so far. */
  perMinute: number | null;
}

interface Options {
  clock: Clock;
  /** Tells the other gateways; absent: there are none. */
  share?: (counts: Counts) => void;
  /** Of keys without a limit of their own. */
  perMinuteDefault?: number;
}

export class CallRateLimiter {
  readonly #clock: Clock;
  readonly #share: Options["share"];
  readonly #perMinuteDefault: number;
  readonly #windows = new Map<string, Window>();
  readonly #unshared = new Map<string, number>();

  constructor({ clock, share, perMinuteDefault = toolsCallsPerMinuteDefault }: Options) {
    this.#clock = clock;
    this.#share = share;
    this.#perMinuteDefault = perMinuteDefault;
  }

  /** Whether the key called too often, as far as its limit is known; refused calls are not counted. @throws LimitReachedError 429 */
  require(key: string): void {
    const window = this.#windows.get(key);
    if (!window || window.perMinute === null) return;
    const counted = this.#counted(window);
    if (counted < window.perMinute) return;
    const leaving = window.times[window.from + counted - window.perMinute] ?? 0;
    const message = `Too many calls for this key: its limit is ${window.perMinute} calls a minute`;
    throw new LimitReachedError(message, { status: 429, retryAfterMs: leaving + rateWindowMs - this.#clock.monotonic() });
  }

  /** Whether the key has called within the last minutes, and so is one. */
  knows(key: string): boolean {
    return this.#windows.has(key);
  }

  /** Counts a call of a key whose limit is known now. @param perMinute null: the default @throws LimitReachedError 429 */
  count(key: string, perMinute: number | null): void {
    this.#windowOf(key).perMinute = perMinute ?? this.#perMinuteDefault;
    this.require(key);
    this.charge(key, 1);
  }

  /** What a call took beyond an ordinary one. */
  charge(key: string, calls: number): void {
    this.#add(key, calls);
    if (this.#share === undefined) return;
    if (this.#unshared.size === 0) this.#clock.after(toolsCallsShareMs, () => this.#tell());
    this.#unshared.set(key, (this.#unshared.get(key) ?? 0) + calls);
  }

  /** What another gateway counted. */
  addOthers(counts: Counts): void {
    for (const [key, calls] of counts) this.#add(key, calls);
  }

  #tell(): void {
    this.#share?.([...this.#unshared]);
    this.#unshared.clear();
  }

  #add(key: string, calls: number): void {
    const window = this.#windowOf(key);
    this.#counted(window);
    const now = this.#clock.monotonic();
    for (let count = 0; count < calls; count++) window.times.push(now);
  }

  #windowOf(key: string): Window {
    const known = this.#windows.get(key);
    if (known) return known;
    if (this.#windows.size >= toolsKeysCountedMax) this.#forget();
    const window: Window = { times: [], from: 0, perMinute: null };
    this.#windows.set(key, window);
    return window;
  }

  /** Those that are a minute old leave. */
  #counted(window: Window): number {
    const { times } = window;
    const since = this.#clock.monotonic() - rateWindowMs;
    while (window.from < times.length && (times[window.from] ?? 0) <= since) window.from++;
    if (window.from * 2 > times.length) {
      times.splice(0, window.from);
      window.from = 0;
    }
    return times.length - window.from;
  }

  #forget(): void {
    for (const [key, window] of this.#windows) if (this.#counted(window) === 0) this.#windows.delete(key);
  }
}
