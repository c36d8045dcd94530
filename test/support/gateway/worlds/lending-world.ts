/** Gateways that are lent blocks, a worker and metering, over counters in this process and a ledger in memory. */
import { join } from "node:path";
import { BusUnavailableError } from "../../../../src/backing/bus.ts";
import type { Reservation } from "../../../../src/gateway/credit/reservation.ts";
import { maintenanceStore } from "../../../../src/gateway/metering/maintenance-store.ts";
import { settleEvents } from "../../../../src/gateway/metering/worker.ts";
import { RefusedError } from "../../../../src/gateway/admission/client.ts";
import { decodeRequests } from "../../../../src/gateway/admission/message.ts";
import type { KeyRecord } from "../../../../src/accounts/keys/record.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { endOf, TestGateway } from "../../test-gateway.ts";
import { noDatabase } from "../../servers/no-database.ts";
import { AdmissionWorker, forwardTo, reservedAmount } from "../admission-worker.ts";
import { hashOf, keyRecord } from "../key-records.ts";
import { MemoryLedger } from "../memory-ledger.ts";

const notSent = (): Promise<never> => Promise.reject(new BusUnavailableError("The process is dead"));

/** A request costs all that it reserves. */
const wholeReservation = { promptTokens: 100, completionTokens: 50 };

export class LendingWorld implements Disposable {
  readonly worker: AdmissionWorker;
  readonly gateways: TestGateway[] = [];
  readonly #folder: string;
  #spools = 0;
  #isDead = false;
  /** The key of the workspace. */
  record: KeyRecord;

  /** @param credit in requests */
  constructor({ folder, credit, gateways = 1, key = {} }: LendingWorldOptions) {
    const ledger = new MemoryLedger().open("ws-1", reservedAmount * BigInt(credit));
    this.worker = new AdmissionWorker({ ledger });
    this.#folder = folder;
    this.record = keyRecord({ requestsPerMinute: 10_000, ...key });
    this.setKey({});
    const { bus, clock, service } = this.worker;
    void bus.serve("admission", (payload) => service.reply(payload));
    bus.listen("records-changed", () => service.keyRecords.clear());
    const counters = forwardTo(() => this.worker.counters);
    const metering = { bus, store: ledger, counters, maintenance: maintenanceStore(noDatabase), clock, log: silentLog };
    void bus.consume("settlements", { messagesMax: 5 }, (events) => settleEvents(events, metering));
    for (let count = 0; count < gateways; count++) this.gateways.push(this.open());
  }

  open(spool = `gateway-${++this.#spools}`): TestGateway {
    const { bus: whole, clock, models } = this.worker;
    const bus = new Proxy(whole, {
      get: (target, name) => {
        if (name === "request" && this.#isDead) return notSent;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return new TestGateway({ bus, clock, models, folder: join(this.#folder, spool) });
  }

  /** The first gateway sends and answers nothing more. */
  kill(): void {
    this.gateway()[Symbol.dispose]();
    this.#isDead = true;
  }

  /** The next process with the spool of the first gateway. */
  succeed(): void {
    this.#isDead = false;
    const { bus, clock, models } = this.worker;
    const successor = new TestGateway({ bus, clock, models, folder: join(this.#folder, "gateway-1") });
    this.gateways[0] = successor;
    successor.admission.takeOver(successor.journal.recover());
  }

  gateway(number = 0): TestGateway {
    const gateway = this.gateways[number];
    if (!gateway) throw new Error(`There is no gateway ${number}`);
    return gateway;
  }

  /** Changes the key without announcing it. */
  setKey(fields: Partial<KeyRecord>): void {
    this.record = { ...this.record, ...fields };
    this.worker.records.set(hashOf("key"), this.record);
  }

  begin(gateway = this.gateway()): Promise<Reservation> {
    return gateway.begin(hashOf("key"), this.record);
  }

  /** @returns the code of the refusal; null: it was admitted, and its call costs all that it reserved */
  async call(gateway = this.gateway()): Promise<string | null> {
    try {
      const reservation = await this.begin(gateway);
      void gateway.journal.end(endOf(reservation, wholeReservation));
      return null;
    } catch (error) {
      if (error instanceof RefusedError) return error.code;
      throw error;
    }
  }

  /** Requests so far apart that blocks are lent for the next ones. */
  async warmUp(gateway = this.gateway(), requests = 10): Promise<void> {
    for (let count = 0; count < requests; count++) {
      await this.call(gateway);
      await this.pass(100);
    }
  }

  /** Time passes; metering books what has ended. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      await this.worker.clock.pass(Math.min(left, 100));
      await this.worker.bus.deliver();
    }
  }

  /** How many requests of a kind workers got. */
  asked(kind: "admit" | "lend" | "return"): number {
    return this.worker.bus.requests.reduce(
      (count, payload) => count + decodeRequests(payload).asks.filter((one) => one.kind === kind).length,
      0,
    );
  }

  async account(): Promise<{ balance: bigint; reserved: bigint; available: bigint }> {
    const { account } = await this.worker.counters.read("ws-1", null);
    if (account === null) throw new Error("The counters are not loaded");
    return account;
  }

  [Symbol.dispose](): void {
    for (const gateway of this.gateways) gateway[Symbol.dispose]();
  }
}

interface LendingWorldOptions {
  /** For the spools. */
  folder: string;
  credit: number;
  gateways?: number;
  key?: Partial<KeyRecord>;
}
