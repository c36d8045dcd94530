/** The gateway's admission requests: gathered, encoded, sent, answered at once, and delivered. */
import { encodeReplies, type AdmitGeneration, type AdmissionReply } from "../../src/gateway/admission/message.ts";
import { RequestBatcher } from "../../src/gateway/admission/batcher.ts";
import type { Bus, Reply } from "../../src/backing/bus.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { hashKey, newGenerationId } from "../../src/kernel/ids.ts";
import type { Microbenchmark } from "./benchmark.ts";

const counts = [1, 16, 128];

const request: AdmitGeneration = {
  kind: "admit",
  generation: newGenerationId(1_795_000_000_000),
  hash: hashKey("bench"),
  model: "bench/instant-16",
  inputTokens: 1_000,
  maxTokens: 16,
  tools: false,
  deadline: 1_795_000_002_000,
  fingerprint: "0011223344556677",
};

const answer: AdmissionReply = {
  kind: "admitted",
  at: 1_795_000_000_000,
  month: "2026-11",
  amount: "1000000",
  maxOutputTokens: 16,
  window: { limit: 10_000, remaining: 9_999, resetMs: 60_000 },
};

/** Answers every message at once, so that only the gateway's own work is measured. */
function busFor(count: number): Bus {
  const payload = encodeReplies({ now: 1_795_000_000_000, answers: Array.from({ length: count }, () => answer) });
  return asBus({ request: async (): Promise<Reply> => ({ payload, resent: false }), width: () => 2 });
}

/** Has only the methods of the bus that the batcher uses. */
function asBus(bus: Pick<Bus, "request" | "width">): Bus {
  return bus as Bus;
}

export const requestBatcher: Microbenchmark = {
  unit: "request",
  async prepare() {
    return counts.map((count) => {
      const batcher = new RequestBatcher({ bus: busFor(count), clock: systemClock, onCountersTime() {}, recordIntents() {} });
      const call = () => Promise.all(Array.from({ length: count }, () => batcher.send(request)));
      return { name: `${count} at once`, units: count, call };
    });
  },
};
