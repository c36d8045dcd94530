/**
 * Conditions under which a request may not be admitted, whatever its limits say. When charges no longer reach the ledger, a backlog without
 * progress for five minutes closes admission: a request is refused rather than served unmetered. When the counters do not answer, gateways
 * learn it within half a second and stop deciding with their blocks. When an idempotency key is spent, its request is not served again.
 * The first two check facts (waiting events, an answer of the counters) and not the health of processes, which may be healthy and get
 * nothing done.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { AdmitRequest, Counters } from "../../../backing/counters.ts";
import { rateWindowMs } from "../../../backing/limits.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { KeyId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { SpentClaim } from "../../credit/store.ts";
import type { Claim } from "../../field-parts.ts";
import {
  backlogPollMs,
  claimLooksMin,
  claimLooksPerRequest,
  idempotencyMs,
  meteringLagMsMax,
  spentClaimKnownMs,
  spentClaimsKnownMax,
} from "../../limits.ts";
import { countersWatchMs } from "../limits.ts";
import type { Refused } from "../message.ts";
import type { LoadStore } from "./loads.ts";

/**
 * Requests whose idempotency key is spent: a generation left something, says the ledger. It is asked before the counters decide. Metering
 * writes there before it resolves a hold, and the counters remember for a minute what was resolved, which is longer than a decision takes;
 * so an earlier request is in one of the two. This look precedes the rate limit, so it has bounds of its own. What is spent stays spent for
 * its day and is remembered for a while: a client that repeats one request costs the ledger nothing. And an API key may bring only so many
 * new keys in a minute, about twice the requests that its rate limit admits.
 */
export class SpentKeys {
  readonly #parts: { store: Pick<LoadStore, "claims">; clock: Clock; log: Logger };
  /** By claim, the oldest addition first; `until` is monotonic. */
  readonly #known = new Map<string, { spent: SpentClaim; until: number }>();
  readonly #looks: LooksOfKeys;

  constructor(parts: { store: Pick<LoadStore, "claims">; clock: Clock; log: Logger }) {
    this.#parts = parts;
    this.#looks = new LooksOfKeys(parts.clock);
  }

  /**
   * In the order of the requests; undefined: the request may be admitted. Nothing is admitted without the ledger's word.
   * @param nowMs the counters' time, since a process's own clock may be far ahead; null: they do not answer
   * @param endsAt monotonic ms: until then the ledger is waited for
   * @param isFirst whether it is the first look for these requests
   */
  async refusals(
    asked: readonly ClaimingRequest[],
    { nowMs, endsAt, isFirst }: { nowMs: number | null; endsAt: number; isFirst: boolean },
  ): Promise<(Refused | undefined)[]> {
    const { clock, log } = this.#parts;
    try {
      if (nowMs === null) throw new Error("the counters do not tell the time");
      const since = nowMs - idempotencyMs;
      const first = new Map<string, SpentClaim>();
      const unknown: string[] = [];
      const refused = new Map<ClaimingRequest, Refused>();
      for (const one of asked) {
        if (one.claim === undefined) continue;
        const { id } = one.claim;
        const known = this.#knownSince(id, since);
        if (known) first.set(id, known);
        else if (!isFirst || this.#looks.take(one)) unknown.push(id);
        else refused.set(one, { kind: "refused", code: "rate_limited", retryAfterMs: this.#looks.retryAfterMs() });
      }
      if (unknown.length > 0) {
        const read = this.#parts.store.claims(unknown, since);
        const spent = await withDeadline(clock, Math.max(0, endsAt - clock.monotonic()), "Reading claims", read);
        for (const one of spent.toReversed()) first.set(one.claim, one);
        for (const id of unknown) this.#remember(first.get(id));
      }
      return asked.map((one) => refused.get(one) ?? (one.claim && refusalOf(one.claim, first.get(one.claim.id))));
    } catch (error) {
      log.warn({ event: "admission.unavailable", reason: String(error) }, "Idempotency keys cannot be looked up");
      return asked.map(({ claim }) => claim && { kind: "refused", code: "billing_unavailable" });
    }
  }

  #knownSince(claim: string, since: number): SpentClaim | undefined {
    const known = this.#known.get(claim);
    if (!known) return undefined;
    if (known.spent.admittedAt > since && known.until > this.#parts.clock.monotonic()) return known.spent;
    this.#known.delete(claim);
    return undefined;
  }

  #remember(spent: SpentClaim | undefined): void {
    if (!spent) return;
    this.#known.delete(spent.claim);
    this.#known.set(spent.claim, { spent, until: this.#parts.clock.monotonic() + spentClaimKnownMs });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= spentClaimsKnownMax) break;
      this.#known.delete(oldest);
    }
  }
}

/** What a look at the ledger needs of a request; `claim` is undefined if it has no idempotency key. */
interface ClaimingRequest extends Pick<AdmitRequest, "key" | "requestsPerMinute"> {
  claim: Claim | undefined;
}

/** How often API keys had the ledger asked in the current minute. */
class LooksOfKeys {
  readonly #clock: Clock;
  readonly #taken = new Map<KeyId, number>();
  /** Monotonic. */
  #endsAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns whether the key may have one more */
  take({ key, requestsPerMinute }: ClaimingRequest): boolean {
    const now = this.#clock.monotonic();
    if (now >= this.#endsAt) {
      this.#taken.clear();
      this.#endsAt = now + rateWindowMs;
    }
    const taken = (this.#taken.get(key) ?? 0) + 1;
    this.#taken.set(key, taken);
    return taken <= Math.max(claimLooksMin, claimLooksPerRequest * requestsPerMinute);
  }

  retryAfterMs(): number {
    return Math.max(1, Math.ceil(this.#endsAt - this.#clock.monotonic()));
  }
}

function refusalOf({ body }: Claim, spent: SpentClaim | undefined): Refused | undefined {
  if (spent === undefined) return undefined;
  if (spent.body !== body) return { kind: "refused", code: "idempotency_mismatch" };
  return { kind: "refused", code: "idempotency_spent", generation: spent.generation };
}

/** Closes admission while settlements wait and none is booked. */
export class MeteringLagGuard implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #listening: Disposable;
  #movedAt: number;
  /** null: it could not be read. */
  #waiting: number | null = 0;
  #closed = false;
  #cancel = (): void => {};

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
    this.#movedAt = clock.monotonic();
    this.#listening = bus.listen("settled", () => this.#moved());
    this.#poll();
  }

  behind(): boolean {
    return this.#clock.monotonic() - this.#movedAt > meteringLagMsMax;
  }

  /** The time since which settlements wait, or cannot be counted, without one being booked. Milliseconds; 0: none waits. */
  get lagMs(): number {
    return this.#waiting === 0 ? 0 : this.#clock.monotonic() - this.#movedAt;
  }

  /** Events of settlements that wait, as they were last counted. NaN: they could not be counted. */
  get waiting(): number {
    return this.#waiting ?? NaN;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#cancel();
    this.#listening[Symbol.dispose]();
  }

  #moved(): void {
    this.#movedAt = this.#clock.monotonic();
  }

  #poll(): void {
    if (this.#closed) return;
    this.#cancel = this.#clock.after(backlogPollMs, () => {
      void this.#bus
        .backlog("settlements")
        .then(({ messages }) => {
          this.#waiting = messages;
          if (messages === 0) this.#moved();
        })
        .catch(() => void (this.#waiting = null))
        .finally(() => this.#poll());
    });
  }
}

interface WatchParts {
  bus: Pick<Bus, "broadcast">;
  counters: Pick<Counters, "now">;
  clock: Clock;
}

/**
 * Notifies gateways when the counters do not answer, so that they stop deciding with their blocks: without blocks, their next request would
 * show it.
 */
export class CountersWatch {
  readonly #parts: WatchParts;
  /** Monotonic ms: until then a block of this worker may be in use. */
  #until = -Infinity;
  #isWatching = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** A block was lent: the counters are asked several times a second until its end. */
  lent(lifeMs: number): void {
    this.#until = Math.max(this.#until, this.#parts.clock.monotonic() + lifeMs);
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#watchSoon();
  }

  /** The counters did not answer. */
  failed(): void {
    this.#parts.bus.broadcast("counters-lost");
  }

  #watchSoon(): void {
    this.#parts.clock.after(countersWatchMs, () => void this.#watch());
  }

  async #watch(): Promise<void> {
    const { counters, clock } = this.#parts;
    this.#isWatching = clock.monotonic() < this.#until;
    if (!this.#isWatching) return;
    await counters.now().catch(() => this.failed());
    this.#watchSoon();
  }
}
