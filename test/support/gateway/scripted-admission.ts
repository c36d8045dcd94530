/** An admission worker whose replies a test sets, and a gateway's client that sends requests to it. */
import type { AdmissionIntent } from "../../../src/gateway/journal/spool-line.ts";
import {
  type Caller,
  type RequestFacts,
  decodeRequests,
  encodeReplies,
  type AdmitGeneration,
  type AdmissionReply,
  type AdmissionRequest,
  recordOnBus,
} from "../../../src/gateway/admission/message.ts";
import { AdmissionClient } from "../../../src/gateway/admission/client.ts";
import { decodeReportRequest, encodeOpenReport } from "../../../src/gateway/journal/open-report.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../clock.ts";
import { FakeBus } from "../servers/fake-bus.ts";
import { hashOf, keyRecord } from "./key-records.ts";

export const caller: Caller = { hash: hashOf("key"), record: recordOnBus(keyRecord()) };
export const requestFacts: RequestFacts = { model: "sandbox/echo", inputTokens: 10, maxTokens: 20, tools: false };
export const keyRecordReply: AdmissionReply = { kind: "record", ageMs: 0, record: caller.record };

export function admittedReply(fields: Partial<AdmissionReply & { kind: "admitted" }> = {}): AdmissionReply {
  return {
    kind: "admitted",
    at: 1_000,
    month: "2026-11",
    amount: "114000",
    maxOutputTokens: 20,
    window: { limit: 60, remaining: 59, resetMs: 60_000 },
    ...fields,
  };
}

export class ScriptedAdmission {
  readonly clock = new ManualClock();
  readonly bus = new FakeBus();
  readonly requests: AdmissionRequest[] = [];
  /** Milliseconds of the counters' clock in each reply; null: the counters do not answer. */
  now: number | null = 1_000_000;
  admit: (request: AdmitGeneration) => AdmissionReply = () => admittedReply();
  release: () => AdmissionReply = () => ({ kind: "done" });
  authenticate: () => AdmissionReply = () => keyRecordReply;
  other: (request: AdmissionRequest) => AdmissionReply = () => ({ kind: "done" });
  /** Called with the intents of each message before it is sent. */
  recordIntents: (intents: AdmissionIntent[]) => void = () => {};
  readonly client: AdmissionClient;

  constructor() {
    void this.bus.serve("admission", (payload) => this.#replyTo(payload));
    this.client = new AdmissionClient({
      bus: this.bus,
      clock: this.clock,
      log: silentLog,
      journal: {
        recordIntents: (intents) => this.recordIntents(intents),
        onReport: (listener) => this.#serveEmptyReports(listener),
        onMissed: () => {},
        noteAdmission: () => {},
        useBlocks: () => {},
      },
    });
  }

  /** The received requests of this kind, in order. */
  received<Kind extends AdmissionRequest["kind"]>(kind: Kind): Extract<AdmissionRequest, { kind: Kind }>[] {
    return this.requests.filter((request): request is Extract<AdmissionRequest, { kind: Kind }> => request.kind === kind);
  }

  /** Reports no open generation. */
  #serveEmptyReports(listener: (workspace: string) => void): void {
    this.bus.serveScatter("open-generations", (payload) => {
      listener(decodeReportRequest(payload).workspace);
      return encodeOpenReport({ holds: [], windows: [], blocks: [] });
    });
  }

  async #replyTo(payload: Uint8Array): Promise<Uint8Array> {
    const { asks } = decodeRequests(payload);
    this.requests.push(...asks);
    return encodeReplies({ now: this.now, answers: asks.map((request) => this.#replyToOne(request)) });
  }

  #replyToOne(request: AdmissionRequest): AdmissionReply {
    if (request.kind === "admit") return this.admit(request);
    if (request.kind === "void") return this.release();
    return request.kind === "authenticate" ? this.authenticate() : this.other(request);
  }
}
