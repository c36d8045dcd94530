/**
 * Two fronts, two workers and one metering over counters in this process and a ledger in memory. What is said between them is
 * delayed, lost and given twice; all chance comes from one seed.
 */
import { join } from "node:path";
import { BusTimeoutError, type Reply } from "../../src/backing/bus.ts";
import type { Reservation } from "../../src/gateway/credit/reservation.ts";
import { silentLog } from "../../src/kernel/log.ts";
import type { KeyRecord } from "../../src/accounts/keys/record.ts";
import { maintenanceStore } from "../../src/gateway/metering/maintenance-store.ts";
import { settleEvents } from "../../src/gateway/metering/worker.ts";
import { AdmissionWorker, forwardTo } from "./admission-worker.ts";
import { settled } from "./clock.ts";
import type { StoredEvent } from "./fake-bus.ts";
import { endOf, TestFront } from "./fronts.ts";
import { hashOf, keyRecord } from "./key-records.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { noDatabase } from "./no-database.ts";
import { randomFrom } from "./random.ts";

export const worldCredit = 1_500_000n;
const keyLimit = 900_000n;
const workspaceLimit = 1_300_000n;

export type Step =
  | { kind: "admit" | "abandon"; front: number; key: number }
  | { kind: "end"; which: number; promptTokens: number; completionTokens: number }
  | { kind: "repeat"; which: number }
  | { kind: "kill"; front: number }
  | { kind: "pass"; ms: number }
  | { kind: "deliver" | "wipe" | "turn" };

/** A provider's call: from here on its reservation may be owed. */
interface Call {
  reservation: Reservation;
  front: number;
  ended: boolean;
}

/** A call was begun that the credit or a limit does not cover. */
class UncoveredError extends Error {
  override name = "UncoveredError";
}

export class CreditWorld {
  readonly ledger = new MemoryLedger().open("ws-1", worldCredit);
  readonly worker = new AdmissionWorker({ ledger: this.ledger });
  /** How many provider calls there were. */
  called = 0;
  readonly #bus = this.worker.bus;
  readonly #fronts: [TestFront, TestFront];
  readonly #keys: { hash: string; record: KeyRecord }[];
  readonly #calls = new Map<string, Call>();
  readonly #published: StoredEvent[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #random: () => number;
  readonly #folder: string;
  #failure: UncoveredError | null = null;

  /** @param folder for the spools */
  constructor(seed: number, folder: string) {
    this.#random = randomFrom(seed);
    this.#folder = folder;
    this.#keys = [null, keyLimit].map((monthlyLimit, number) => {
      const record = keyRecord({ id: `key-${number}`, monthlyLimit, workspaceLimit, requestsPerMinute: 10_000 });
      return { hash: hashOf(record.id), record };
    });
    for (const { hash, record } of this.#keys) this.worker.records.set(hash, record);
    this.#delayLedger();
    this.#bus.store = async (event) => {
      this.#published.push(event);
      this.#bus.stored.push(event);
    };
    this.#bus.carry = (deliver) => this.#carry(deliver);
    for (const service of [this.worker.service, this.worker.worker()])
      void this.#bus.serve("admission", (payload) => service.reply(payload));
    const counters = forwardTo(() => this.worker.counters);
    const { resolveMany } = counters;
    counters.resolveMany = (batch) => this.#around(() => resolveMany(batch));
    const metering = { bus: this.#bus, store: this.ledger, counters, maintenance: maintenanceStore(noDatabase), log: silentLog };
    void this.#bus.consume("settlements", { messagesMax: 5 }, (events) => settleEvents(events, metering));
    this.#fronts = [this.#front(0), this.#front(1)];
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#take(step);
      this.#assertCovered();
    }
  }

  /** Everything ends and everything arrives, with nothing in between any longer. */
  async quiesce(): Promise<void> {
    this.#bus.carry = async (deliver) => ({ payload: await deliver(), resent: false });
    for (let round = 0; round < 4; round++) {
      await this.worker.clock.pass(1_000);
      for (const call of this.#calls.values()) this.#end(call, { promptTokens: 1, completionTokens: 1 });
      await settled();
      await this.#bus.deliver();
    }
    await Promise.all(this.#underWay);
  }

  /** What the counters say when they are asked now. */
  position(key: number): Promise<unknown> {
    const asked = this.worker.message([{ kind: "position", workspace: "ws-1", key: `key-${key}` }]);
    return asked.then(({ answers }) => answers[0]);
  }

  get voids(): number {
    return this.#fronts[0].admission.releases.size + this.#fronts[1].admission.releases.size;
  }

  close(): void {
    for (const front of this.#fronts) front[Symbol.dispose]();
  }

  async #take(step: Step): Promise<void> {
    switch (step.kind) {
      case "admit":
        return this.#track(this.#call(step));
      case "abandon":
        return this.#track(this.#abandon(step));
      case "end": {
        const open = [...this.#calls.values()].filter(({ ended }) => !ended);
        const call = open[step.which % Math.max(1, open.length)];
        if (call) this.#end(call, step);
        return;
      }
      case "repeat": {
        const event = this.#published[step.which % Math.max(1, this.#published.length)];
        if (event) this.#bus.stored.push({ ...event });
        return;
      }
      case "deliver":
        return this.#track(this.#bus.deliver());
      case "wipe":
        return this.worker.wipe();
      case "kill":
        return this.#kill(step.front);
      case "pass":
        return this.worker.clock.pass(step.ms);
      case "turn":
        await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #call({ front, key }: { front: number; key: number }): Promise<void> {
    const at = this.#frontAt(front);
    const { hash, record } = this.#keyAt(key);
    const reservation = await at.begin(hash, record);
    this.called++;
    this.#calls.set(reservation.generation, { reservation, front, ended: false });
    this.#assertCovered();
  }

  /** Admitted, and then there was no use for it. */
  async #abandon({ front, key }: { front: number; key: number }): Promise<void> {
    const { hash, record } = this.#keyAt(key);
    const at = this.#frontAt(front);
    at.admission.release((await at.admit(hash, record)).reservation);
  }

  #end(call: Call, usage: { promptTokens: number; completionTokens: number }): void {
    if (call.ended) return;
    call.ended = true;
    void this.#frontAt(call.front).journal.end(endOf(call.reservation, usage));
  }

  /** Its successor finds its spool; the calls that were under way end with it and are charged nothing. */
  #kill(number: number): void {
    this.#frontAt(number)[Symbol.dispose]();
    for (const [generation, { front, ended }] of this.#calls) if (front === number && !ended) this.#calls.delete(generation);
    const successor = this.#front(number);
    for (const { workspace, generation } of successor.journal.recover().pendingAdmissions)
      successor.admission.releases.add(workspace, generation);
    this.#fronts[number === 0 ? 0 : 1] = successor;
  }

  /** What may still be owed is never more than what is there, nor more than a key or the workspace may spend in the month. */
  #assertCovered(): void {
    const open = [...this.#calls.values()].filter(({ reservation }) => !this.ledger.charges.has(reservation.generation));
    const sum = (calls: Call[]) => calls.reduce((total, { reservation }) => total + reservation.amount, 0n);
    const balance = this.ledger.accounts.get("ws-1")?.balance ?? 0n;
    if (balance < sum(open)) throw new UncoveredError(`Overdrawn: ${balance} nano-USD are there and ${sum(open)} may be owed`);
    const ofKey = sum(open.filter(({ reservation }) => reservation.key === "key-1"));
    const spentByKey = this.ledger.keyMonths.get("key-1 2026-11")?.spent ?? 0n;
    if (spentByKey + ofKey > keyLimit)
      throw new UncoveredError(`A key's limit is passed: ${spentByKey} spent, ${ofKey} may be owed`);
    const spent = this.ledger.workspaceMonths.get("ws-1 2026-11") ?? 0n;
    if (spent + sum(open) > workspaceLimit)
      throw new UncoveredError(`The limit is passed: ${spent} spent, ${sum(open)} may be owed`);
  }

  #front(number: number): TestFront {
    return new TestFront({ bus: this.#bus, clock: this.worker.clock, folder: join(this.#folder, String(number)) });
  }

  #frontAt(number: number): TestFront {
    return number === 0 ? this.#fronts[0] : this.#fronts[1];
  }

  #keyAt(number: number): { hash: string; record: KeyRecord } {
    const key = this.#keys[number];
    if (!key) throw new Error(`The test has no key ${number}`);
    return key;
  }

  async #carry(deliver: () => Promise<Uint8Array>): Promise<Reply> {
    await this.#dawdle();
    const chance = this.#random();
    if (chance < 0.05) throw new BusTimeoutError("lost on its way");
    const payload = await deliver();
    await this.#dawdle();
    if (chance < 0.1) throw new BusTimeoutError("its answer was lost");
    if (chance < 0.2) return { payload: await deliver(), resent: true };
    return { payload, resent: false };
  }

  #delayLedger(): void {
    const account = this.ledger.account.bind(this.ledger);
    const keyMonth = this.ledger.keyMonth.bind(this.ledger);
    this.ledger.account = async (workspace, generations) => this.#around(() => account(workspace, generations));
    this.ledger.keyMonth = async (workspace, key, month) => this.#around(() => keyMonth(workspace, key, month));
  }

  async #around<T>(read: () => Promise<T>): Promise<T> {
    await this.#dawdle();
    const answer = await read();
    await this.#dawdle();
    return answer;
  }

  async #dawdle(): Promise<void> {
    for (let left = Math.floor(this.#random() * 6); left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  }

  /** What fails here is refused or lost; what must not be is asserted. */
  #track(promise: Promise<unknown>): void {
    const tracked = promise.catch((error: unknown) => this.#note(error)).finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #note(error: unknown): void {
    if (error instanceof UncoveredError) this.#failure ??= error;
  }

  /** @throws what an assertion found while nobody waited for it */
  assertSound(): void {
    if (this.#failure) throw this.#failure;
  }
}
