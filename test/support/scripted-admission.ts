/** A worker of admission that answers as a test says, and a front's client that asks it. */
import type { AdmissionIntent } from "../../src/gateway/journal/spool-line.ts";
import { AdmissionClient, type Caller, type RequestFacts } from "../../src/gateway/admission/client/client.ts";
import { decodeRequests, encodeReplies } from "../../src/gateway/admission/codec.ts";
import type { AdmitGeneration, AdmissionReply, AdmissionRequest } from "../../src/gateway/admission/message.ts";
import { recordOnBus } from "../../src/gateway/admission/record-on-bus.ts";
import { decodeReportRequest, encodeOpenReport } from "../../src/gateway/journal/open-report.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { ManualClock } from "./clock.ts";
import { FakeBus } from "./fake-bus.ts";
import { hashOf, keyRecord } from "./key-records.ts";

export const caller: Caller = { hash: hashOf("key"), record: recordOnBus(keyRecord()) };
export const wanted: RequestFacts = { model: "sandbox/echo", inputTokens: 10, maxTokens: 20, tools: false };
export const recordAnswer: AdmissionReply = { kind: "record", ageMs: 0, record: caller.record };

export function admittedAnswer(fields: Partial<AdmissionReply & { kind: "admitted" }> = {}): AdmissionReply {
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
  readonly asks: AdmissionRequest[] = [];
  /** Milliseconds of the counters' clock in each answer; null: they do not answer. */
  now: number | null = 1_000_000;
  admit: (ask: AdmitGeneration) => AdmissionReply = () => admittedAnswer();
  giveUp: () => AdmissionReply = () => ({ kind: "done" });
  authenticate: () => AdmissionReply = () => recordAnswer;
  other: (ask: AdmissionRequest) => AdmissionReply = () => ({ kind: "done" });
  /** What is written down before a message goes out. */
  journal: (asked: AdmissionIntent[]) => void = () => {};
  readonly client: AdmissionClient;

  constructor() {
    void this.bus.serve("admission", (payload) => this.#answer(payload));
    this.client = new AdmissionClient({
      bus: this.bus,
      clock: this.clock,
      log: silentLog,
      journal: { recordIntents: (asked) => this.journal(asked), onReport: (listener) => this.#report(listener) },
    });
  }

  /** Of this kind, in order. */
  asked<Kind extends AdmissionRequest["kind"]>(kind: Kind): Extract<AdmissionRequest, { kind: Kind }>[] {
    return this.asks.filter((ask): ask is Extract<AdmissionRequest, { kind: Kind }> => ask.kind === kind);
  }

  /** Nothing is open here. */
  #report(listener: (workspace: string) => void): void {
    this.bus.serveScatter("open-generations", (payload) => {
      listener(decodeReportRequest(payload).workspace);
      return encodeOpenReport({ holds: [], windows: [] });
    });
  }

  async #answer(payload: Uint8Array): Promise<Uint8Array> {
    const { asks } = decodeRequests(payload);
    this.asks.push(...asks);
    return encodeReplies({ now: this.now, answers: asks.map((ask) => this.#answerOne(ask)) });
  }

  #answerOne(ask: AdmissionRequest): AdmissionReply {
    if (ask.kind === "admit") return this.admit(ask);
    if (ask.kind === "void") return this.giveUp();
    return ask.kind === "authenticate" ? this.authenticate() : this.other(ask);
  }
}
