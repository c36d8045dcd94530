/**
 * Limits the calls of each key within a minute. Every gateway counts its calls and sends the counts to the others a few times a second,
 * so the limit holds for a whole fleet, except for counts in transit. Without the bus each gateway counts alone. Refused calls do not
 * count. Memory is bounded by the number of keys.
 */
import type { Clock } from "../../kernel/clock.ts";
import { toolsCallsPerMinuteDefault, toolsCallsShareMs, toolsKeysCountedMax } from "../limits.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { LimitReachedError } from "../errors.ts";

/** Numbers of calls; keys by their hashes. */
export type Counts = readonly (readonly [key: string, calls: number])[];

interface Window {
  /** Times of the counted calls on the monotonic clock; those before `from` have expired. */
  times: number[];
  from: number;
  /** null: unknown, because only other gateways have counted this key. */
  perMinute: number | null;
}

interface Options {
  clock: Clock;
  /** Sends counts to the other gateways; absent: there are none. */
  share?: (counts: Counts) => void;
  /** What is limited, in the message of a refusal. */
  what?: string;
  /** The limit of keys that have none. */
  perMinuteDefault?: number;
}

export class CallRateLimiter {
  readonly #clock: Clock;
  readonly #share: Options["share"];
  readonly #what: string;
  readonly #perMinuteDefault: number;
  readonly #windows = new Map<string, Window>();
  readonly #unshared = new Map<string, number>();

  constructor({ clock, share, what = "this key", perMinuteDefault = toolsCallsPerMinuteDefault }: Options) {
    this.#clock = clock;
    this.#share = share;
    this.#what = what;
    this.#perMinuteDefault = perMinuteDefault;
  }

  /** Refused calls do not count. @throws LimitReachedError 429 if the key has called too often and its limit is known */
  require(key: string): void {
    const window = this.#windows.get(key);
    if (!window || window.perMinute === null) return;
    const counted = this.#counted(window);
    if (counted < window.perMinute) return;
    const leaving = window.times[window.from + counted - window.perMinute] ?? 0;
    const message = `Too many calls for ${this.#what}: its limit is ${window.perMinute} calls a minute`;
    throw new LimitReachedError(message, { status: 429, retryAfterMs: leaving + rateWindowMs - this.#clock.monotonic() });
  }

  /** Whether the key has called within the last minutes, and so is valid. */
  knows(key: string): boolean {
    return this.#windows.has(key);
  }

  /** Counts a call of a key whose limit is now known. @param perMinute null: the default @throws LimitReachedError 429 */
  count(key: string, perMinute: number | null): void {
    this.#windowOf(key).perMinute = perMinute ?? this.#perMinuteDefault;
    this.require(key);
    this.charge(key, 1);
  }

  /** Counts additional calls for an expensive one. */
  charge(key: string, calls: number): void {
    this.#add(key, calls);
    if (this.#share === undefined) return;
    if (this.#unshared.size === 0) this.#clock.after(toolsCallsShareMs, () => this.#send());
    this.#unshared.set(key, (this.#unshared.get(key) ?? 0) + calls);
  }

  /** Adds the counts of another gateway. */
  addOthers(counts: Counts): void {
    for (const [key, calls] of counts) this.#add(key, calls);
  }

  #send(): void {
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

  /** Drops calls that are a minute old. @returns how many are left */
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
