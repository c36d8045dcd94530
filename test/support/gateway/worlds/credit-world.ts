/**
 * Two gateways, two workers and one metering over counters in this process and a ledger in memory. Messages between them are delayed,
 * lost and duplicated. All chance comes from one seed.
 */
import { join } from "node:path";
import { BusTimeoutError, type Reply } from "../../../../src/backing/bus.ts";
import type { Reservation } from "../../../../src/gateway/credit/reservation.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import type { KeyRecord } from "../../../../src/accounts/keys/record.ts";
import { maintenanceStore } from "../../../../src/gateway/metering/maintenance-store.ts";
import { settleEvents } from "../../../../src/gateway/metering/worker.ts";
import { AdmissionWorker, forwardTo } from "../admission-worker.ts";
import { settled } from "../../clock.ts";
import type { StoredEvent } from "../../servers/fake-bus.ts";
import { endOf, TestGateway } from "../../test-gateway.ts";
import { hashOf, keyRecord } from "../key-records.ts";
import { MemoryLedger } from "../memory-ledger.ts";
import { noDatabase } from "../../servers/no-database.ts";
import { randomFrom } from "../../random.ts";

export const worldCredit = 1_500_000n;
const keyLimit = 900_000n;
const workspaceLimit = 1_300_000n;

export type Step =
  | { kind: "admit" | "abandon"; gateway: number; key: number }
  | { kind: "end"; which: number; promptTokens: number; completionTokens: number }
  | { kind: "repeat"; which: number }
  | { kind: "kill"; gateway: number }
  | { kind: "pass"; ms: number }
  | { kind: "deliver" | "wipe" | "turn" };

/** A provider call, whose reservation may be owed from its start. */
interface Call {
  reservation: Reservation;
  gateway: number;
  ended: boolean;
}

/** A call began that the credit or a limit does not cover. */
class UncoveredError extends Error {
  override name = "UncoveredError";
}

export class CreditWorld {
  readonly ledger = new MemoryLedger().open("ws-1", worldCredit);
  readonly worker = new AdmissionWorker({ ledger: this.ledger });
  /** Count of provider calls. */
  called = 0;
  readonly #bus = this.worker.bus;
  readonly #gateways: [TestGateway, TestGateway];
  readonly #keys: { hash: string; record: KeyRecord }[];
  readonly #calls = new Map<string, Call>();
  readonly #published: StoredEvent[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();
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
    const { clock } = this.worker;
    const maintenance = maintenanceStore(noDatabase);
    const metering = { bus: this.#bus, store: this.ledger, counters, maintenance, clock, log: silentLog };
    void this.#bus.consume("settlements", { messagesMax: 5 }, (events) => settleEvents(events, metering));
    this.#gateways = [this.#gateway(0), this.#gateway(1)];
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#take(step);
      this.#assertCovered();
    }
  }

  /** All calls end and all messages arrive, without further faults. */
  async quiesce(): Promise<void> {
    this.#bus.carry = async (deliver) => ({ payload: await deliver(), resent: false });
    for (let round = 0; round < 4; round++) {
      await this.worker.clock.pass(1_000);
      for (const call of this.#calls.values()) this.#end(call, { promptTokens: 1, completionTokens: 1 });
      await settled();
      await this.#bus.deliver();
    }
    await Promise.all(this.#inFlight);
  }

  /** The counters' present values. */
  async position(key: number): Promise<unknown> {
    const [reply] = await this.worker.replies({ kind: "position", workspace: "ws-1", key: `key-${key}` });
    return reply;
  }

  get pendingReleases(): number {
    return this.#gateways[0].admission.releases.size + this.#gateways[1].admission.releases.size;
  }

  close(): void {
    for (const gateway of this.#gateways) gateway[Symbol.dispose]();
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
        return this.#kill(step.gateway);
      case "pass":
        return this.worker.clock.pass(step.ms);
      case "turn":
        await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #call({ gateway, key }: { gateway: number; key: number }): Promise<void> {
    const at = this.#gatewayAt(gateway);
    const { hash, record } = this.#keyAt(key);
    const reservation = await at.begin(hash, record);
    // A process that was killed meanwhile calls no provider.
    if (at !== this.#gatewayAt(gateway)) return;
    this.called++;
    this.#calls.set(reservation.generation, { reservation, gateway, ended: false });
    this.#assertCovered();
  }

  /** An admission that is released unused. */
  async #abandon({ gateway, key }: { gateway: number; key: number }): Promise<void> {
    const { hash, record } = this.#keyAt(key);
    const at = this.#gatewayAt(gateway);
    at.admission.release((await at.admit(hash, record)).reservation);
  }

  #end(call: Call, usage: { promptTokens: number; completionTokens: number }): void {
    if (call.ended) return;
    call.ended = true;
    void this.#gatewayAt(call.gateway).journal.end(endOf(call.reservation, usage));
  }

  /** The successor finds the gateway's spool. Calls in flight end with the gateway and are not charged. */
  #kill(number: number): void {
    this.#gatewayAt(number)[Symbol.dispose]();
    for (const [generation, { gateway, ended }] of this.#calls) if (gateway === number && !ended) this.#calls.delete(generation);
    const successor = this.#gateway(number);
    for (const { workspace, generation } of successor.journal.recover().pendingAdmissions)
      successor.admission.releases.add(workspace, generation);
    this.#gateways[number === 0 ? 0 : 1] = successor;
  }

  /** The amount that may be owed never exceeds the balance or the monthly limit of a key or the workspace. */
  #assertCovered(): void {
    const open = [...this.#calls.values()].filter(({ reservation }) => !this.ledger.charges.has(reservation.generation));
    const sum = (calls: Call[]) => calls.reduce((total, { reservation }) => total + reservation.amount, 0n);
    const balance = this.ledger.accounts.get("ws-1")?.balance ?? 0n;
    if (balance < sum(open))
      throw new UncoveredError(`Overdrawn: the balance is ${balance} nano-USD and ${sum(open)} may be owed`);
    const ofKey = sum(open.filter(({ reservation }) => reservation.key === "key-1"));
    const spentByKey = this.ledger.keyMonths.get("key-1 2026-11")?.spent ?? 0n;
    if (spentByKey + ofKey > keyLimit)
      throw new UncoveredError(`A key's limit is exceeded: ${spentByKey} spent, ${ofKey} may be owed`);
    const spent = this.ledger.workspaceMonths.get("ws-1 2026-11") ?? 0n;
    if (spent + sum(open) > workspaceLimit)
      throw new UncoveredError(`The workspace's limit is exceeded: ${spent} spent, ${sum(open)} may be owed`);
  }

  #gateway(number: number): TestGateway {
    return new TestGateway({ bus: this.#bus, clock: this.worker.clock, folder: join(this.#folder, String(number)) });
  }

  #gatewayAt(number: number): TestGateway {
    return number === 0 ? this.#gateways[0] : this.#gateways[1];
  }

  #keyAt(number: number): { hash: string; record: KeyRecord } {
    const key = this.#keys[number];
    if (!key) throw new Error(`The test has no key ${number}`);
    return key;
  }

  async #carry(deliver: () => Promise<Uint8Array>): Promise<Reply> {
    await this.#delay();
    const chance = this.#random();
    if (chance < 0.05) throw new BusTimeoutError("the request was lost");
    const payload = await deliver();
    await this.#delay();
    if (chance < 0.1) throw new BusTimeoutError("the reply was lost");
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
    await this.#delay();
    const result = await read();
    await this.#delay();
    return result;
  }

  async #delay(): Promise<void> {
    for (let left = Math.floor(this.#random() * 6); left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Steps may fail when messages are refused or lost; only broken assertions count. */
  #track(promise: Promise<unknown>): void {
    const tracked = promise.catch((error: unknown) => this.#record(error)).finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  #record(error: unknown): void {
    if (error instanceof UncoveredError) this.#failure ??= error;
  }

  /** @throws the first assertion that failed in the background */
  assertSound(): void {
    if (this.#failure) throw this.#failure;
  }
}
