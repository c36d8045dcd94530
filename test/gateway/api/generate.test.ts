/** What an endpoint with a form of its own gets of an accepted request, and what its client and the log get of it. */
import { expect, test } from "bun:test";
import type { AnswerFormat, StreamFacts, WholeFacts } from "../../../src/gateway/api/answer/answer-format.ts";
import { webStream } from "../../../src/gateway/api/answer/response.ts";
import { UncountedPrompts } from "../../../src/gateway/api/uncounted-prompts.ts";
import { DrainLimit } from "../../../src/gateway/api/answer/drains.ts";
import { UnpaidWork } from "../../../src/gateway/api/call/charged-usage.ts";
import type { Gateway } from "../../../src/gateway/api/gateway.ts";
import { generate } from "../../../src/gateway/api/generate.ts";
import { InFlightRequests } from "../../../src/gateway/api/in-flight-requests.ts";
import { countedOnce } from "../../../src/gateway/models/chat-tokens.ts";
import { RouteCoolDown, RouteSpeeds } from "../../../src/gateway/models/route-health.ts";
import type { CallProvider } from "../../../src/gateway/providers/http.ts";
import {
  UpstreamFailure,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
} from "../../../src/gateway/providers/provider.ts";
import { signerOf } from "../../../src/gateway/providers/wire/answers.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { settled } from "../../support/clock.ts";
import { check } from "../../support/gateway/check-chat.ts";
import { reservation } from "../../support/gateway/intents.ts";
import { keyRecord } from "../../support/gateway/key-records.ts";
import { TestJournals } from "../../support/gateway/test-journals.ts";
import { end, FakeEvents, finish, text, usage } from "../../support/providers/fake-events.ts";
import { chatModel } from "../../support/providers/model.ts";

const model = chatModel();
const [route] = model.routes;
const signer = route === undefined ? "" : signerOf(route);
const counts = { promptTokens: 5, completionTokens: 7, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const pieces = [{ kind: "thought", seal: "S", redacted: true }] as const;
const wholeAnswer: ProviderAnswer = {
  kind: "whole",
  answer: {
    message: { role: "assistant", content: "Hi", refusal: null },
    finishReason: "stop",
    logprobs: null,
    usage: counts,
    pieces,
  },
};

/** Answers one request of the endpoint `messages`, whose provider replies as the test says. */
async function answered(reply: ProviderAnswer | UpstreamFailure, streamed: boolean, promptsBytesMax = 1_000) {
  await using journals = await TestJournals.make();
  const { clock } = journals;
  const journal = journals.open();
  const calls: ProviderCall[] = [];
  const told: (StreamFacts | WholeFacts)[] = [];
  const uncountedPrompts = new UncountedPrompts(clock, promptsBytesMax);
  let counts = 0;
  const call: CallProvider = (_reservation, sent) => {
    calls.push(sent);
    return reply instanceof UpstreamFailure ? Promise.reject(reply) : Promise.resolve(reply);
  };
  const gateway = {
    journal,
    call,
    clock,
    log: silentLog,
    admission: { release() {} },
    models: { find: () => model, usableRoutes: ({ routes }: typeof model) => ({ routes }) },
    health: { recordAnswer() {}, recordFailure() {} },
    ownKeys: { accepted() {}, refused() {} },
    serviceKeys: { accepted() {}, refused() {} },
    speeds: new RouteSpeeds(),
    coolDown: new RouteCoolDown(clock),
    inFlight: new InFlightRequests(),
    drainLimit: new DrainLimit(),
    unpaid: new UnpaidWork(clock),
    uncountedPrompts,
  } as unknown as Gateway;
  const format: AnswerFormat = {
    endpoint: "messages",
    wants: { thoughts: true },
    wholeText: ({ pieces: given }, facts) => (told.push(facts), JSON.stringify(given)),
    streamWriter(facts) {
      told.push(facts);
      const line = (name: string) => () => `${name}\n`;
      return {
        begin: line("begin"),
        delta: line("delta"),
        thought: line("thought"),
        keepAlive: "\n",
        complete: line("complete"),
        fail: line("fail"),
      };
    },
    errors: { response: ({ code }, headers, request) => Response.json({ code, request }, { status: 502, headers }) },
    headers: ({ generation, request }) => ({ "x-both": `${generation} ${request}` }),
  };
  const held = reservation();
  const admitted = {
    reservation: held,
    decision: { askedAt: 0, decidedAt: 0 },
    fingerprint: "f0",
    priced: null,
    window: { limit: 60, remaining: 59, resetMs: 1_000 },
  };
  const caller = { hash: "h", record: keyRecord({ fallbacks: false }) };
  const promptEstimate = countedOnce("", () => {
    counts++;
    return 41;
  });
  const chat = { ...check({ stream: streamed }, model), requested: "one", promptEstimate };
  const clientSignal = new AbortController().signal;
  const accepted = { clientSignal, trace: null, createStream: webStream, caller, chat, format, plan: null, admitted };
  const answering = generate(accepted as unknown as Parameters<typeof generate>[0], gateway);
  for (let turn = 0; turn < 5; turn++) {
    journal.flush();
    await settled();
  }
  const response = await answering;
  const body = await response.text();
  journal.flush();
  const [settlement] = await journals.published();
  const both = `${held.generation} ${held.request}`;
  return { response, body, calls, told, settlement, held, both, counts, keptBytes: uncountedPrompts.bytes };
}

test("a whole answer has its pieces, its signer and the endpoint's headers", async () => {
  const { response, body, calls, told, settlement, both, held } = await answered(wholeAnswer, false);
  expect(body).toBe(JSON.stringify(pieces));
  expect(response.headers.get("x-both")).toBe(both);
  expect(response.headers.get("x-generation-id")).toBe(held.generation);
  expect(calls).toMatchObject([{ wants: { thoughts: true } }]);
  expect(told).toMatchObject([{ id: held.generation, model: model.id, signer, usage: counts }]);
  expect(settlement).toMatchObject({ generation: held.generation, endpoint: "messages", status: 200 });
});

test("a stream has its thoughts, its signer and the prompt's tokens that its provider counted first", async () => {
  const thought = { kind: "thought", seal: "S", redacted: false } as const;
  const events = new FakeEvents([usage(1_234, 1), text("Hi"), thought, finish(), end]);
  const { response, body, calls, told, settlement, both, held } = await answered({ kind: "stream", events }, true);
  expect(body).toBe("begin\ndelta\nthought\ncomplete\n");
  expect(response.headers.get("x-both")).toBe(both);
  expect(calls).toMatchObject([{ wants: { thoughts: true } }]);
  expect(told).toMatchObject([{ id: held.generation, signer, promptTokens: 1_234 }]);
  expect(settlement).toMatchObject({ endpoint: "messages", status: 200 });
});

test("a failure has the endpoint's form, with the id of the request, and its headers", async () => {
  const { response, body, settlement, both, held } = await answered(new UpstreamFailure("upstream_error", "by the test"), false);
  expect(JSON.parse(body)).toEqual({ code: "upstream_error", request: held.request });
  expect(response.headers.get("x-both")).toBe(both);
  expect(settlement).toMatchObject({ endpoint: "messages", status: 502, code: "upstream_error" });
});

const streamOf = (...events: ProviderEvent[]): ProviderAnswer => ({ kind: "stream", events: new FakeEvents(events) });
const reported = streamOf.bind(null, text("Hi"), finish(), usage(1_234, 1), end);

test("the prompt of a stream is not counted here if its provider reports it at the end", async () => {
  const { settlement, counts, keptBytes } = await answered(reported(), true);
  expect(settlement).toMatchObject({ usage: { promptTokens: 1_234 }, usageEstimated: false });
  expect([counts, keptBytes]).toEqual([0, 0]);
});

test("the prompt of a stream is counted at its end if its provider does not report it", async () => {
  const { settlement, counts, keptBytes } = await answered(streamOf(text("Hi"), finish(), end), true);
  expect(settlement).toMatchObject({ usage: { promptTokens: 41 }, usageEstimated: true });
  expect([counts, keptBytes]).toEqual([1, 0]);
});

test("the prompt of a stream is counted as it begins, where those of open streams fill their memory", async () => {
  const { settlement, counts, keptBytes } = await answered(reported(), true, 10);
  expect(settlement).toMatchObject({ usage: { promptTokens: 1_234 }, usageEstimated: false });
  expect([counts, keptBytes]).toEqual([1, 0]);
});
