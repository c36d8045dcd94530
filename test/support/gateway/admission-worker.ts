/** An admission worker over counters in this process, a ledger in memory and a table of keys. */
import { AdmissionService } from "../../../src/gateway/admission/worker/service.ts";
import {
  decodeReplies,
  encodeRequest,
  encodeRequests,
  type AdmitGeneration,
  type AdmissionReply,
  type ReplyBatch,
  type AdmissionRequest,
} from "../../../src/gateway/admission/message.ts";
import { fingerprintOf } from "../../../src/gateway/admission/client.ts";
import type { ModelsView } from "../../../src/gateway/admission/decide.ts";
import type { Counters } from "../../../src/backing/counters.ts";
import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import type { KeyRecord } from "../../../src/accounts/keys/record.ts";
import { ManualClock } from "../clock.ts";
import { FakeBus } from "../servers/fake-bus.ts";
import { hashOf, keyRecord } from "./key-records.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { chatModel } from "../providers/model.ts";

/** "acme/one" costs 1,000 nano-USD an input token and 2,000 an output token; its hidden prompt has 64 tokens. */
const model = chatModel();

/** The amount that `admitRequest` reserves: (36 + 64) × 1,000 + 50 × 2,000 nano-USD. */
export const reservedAmount = 200_000n;

export function admitRequest(fields: Partial<AdmitGeneration> = {}): AdmitGeneration {
  const facts = { hash: hashOf("key"), model: model.id, inputTokens: 36, maxTokens: 50, tools: false, ...fields };
  return {
    kind: "admit",
    generation: newGenerationId(Date.UTC(2026, 10, 20, 12)),
    deadline: Number.MAX_SAFE_INTEGER,
    fingerprint: fingerprintOf(facts),
    ...facts,
  };
}

export interface WorkerOptions {
  clock?: ManualClock;
  bus?: FakeBus;
  ledger?: MemoryLedger;
}

export class AdmissionWorker {
  readonly clock: ManualClock;
  readonly bus: FakeBus;
  readonly ledger: MemoryLedger;
  readonly records = new Map<string, KeyRecord>([[hashOf("key"), keyRecord()]]);
  readonly models: ModelsView & { isReadable: boolean };
  isBehind = false;
  isDatabaseDown = false;
  /** The worker's counters; a test may replace them or their methods. */
  counters: Counters;
  readonly service: AdmissionService;

  constructor({
    clock = new ManualClock(),
    bus = new FakeBus(),
    ledger = new MemoryLedger().open("ws-1", 1_000_000n),
  }: WorkerOptions = {}) {
    this.clock = clock;
    this.bus = bus;
    this.ledger = ledger;
    this.counters = new EmbeddedCounters(clock);
    this.models = {
      isReadable: true,
      readable() {
        return this.isReadable;
      },
      find: (id) => (id === model.id ? model : null),
      usableRoutes: ({ routes }) => ({ routes, reason: null }),
    };
    this.service = this.worker();
  }

  /** Another worker over the same counters, bus and ledger. */
  worker(): AdmissionService {
    return new AdmissionService({
      bus: this.bus,
      counters: forwardTo(() => this.counters),
      store: this.ledger,
      findRecords: async (hashes) => {
        if (this.isDatabaseDown) throw new Error("the database is down");
        return new Map([...this.records].filter(([hash]) => hashes.includes(hash)));
      },
      models: this.models,
      metering: { behind: () => this.isBehind },
      clock: this.clock,
      log: silentLog,
    });
  }

  /** @returns the key's hash */
  addKey(name: string, fields: Partial<KeyRecord> = {}): string {
    this.records.set(hashOf(name), keyRecord({ id: `key-${name}`, ...fields }));
    return hashOf(name);
  }

  /** Empties the counters. */
  wipe(): void {
    this.counters = new EmbeddedCounters(this.clock);
  }

  async message(requests: AdmissionRequest[], service = this.service): Promise<ReplyBatch> {
    return decodeReplies(await service.reply(encodeRequests(requests.map(encodeRequest))));
  }

  async replies(...requests: AdmissionRequest[]): Promise<AdmissionReply[]> {
    return (await this.message(requests)).answers;
  }

  /** For each request the kind of its reply, or the code of its refusal. */
  async outcomes(...requests: AdmissionRequest[]): Promise<string[]> {
    return (await this.replies(...requests)).map((reply) => (reply.kind === "refused" ? reply.code : reply.kind));
  }
}

/** Counters that a test may replace while the worker uses them. */
export function forwardTo(current: () => Counters): Counters {
  return {
    admitMany: (batch) => current().admitMany(batch),
    resolveMany: (batch) => current().resolveMany(batch),
    lend: (request) => current().lend(request),
    takeBack: (back) => current().takeBack(back),
    beginLoad: (workspace) => current().beginLoad(workspace),
    load: (load) => current().load(load),
    forget: (...args) => current().forget(...args),
    holds: (workspace) => current().holds(workspace),
    overdue: (workspace, limit) => current().overdue(workspace, limit),
    read: (workspace, key, blocks) => current().read(workspace, key, blocks),
    now: () => current().now(),
    [Symbol.asyncDispose]: async () => {},
  };
}
