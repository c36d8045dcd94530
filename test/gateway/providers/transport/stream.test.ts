import { describe, expect, test } from "bun:test";
import {
  callGraceMs,
  finishGraceMs,
  streamTailBytesMax,
  streamTailMs,
  upstreamAnswerBytesMax,
  upstreamEventBytesMax,
} from "../../../../src/gateway/limits.ts";
import { anthropic, google, openai } from "../../../../src/gateway/providers/registry.ts";
import { OversizedAnswer, type WireFormat } from "../../../../src/gateway/providers/provider.ts";
import { UpstreamCall } from "../../../../src/gateway/providers/transport/upstream-call.ts";
import { assembledAnswer } from "../../../../src/gateway/providers/transport/other-forms.ts";
import { ProviderStream } from "../../../../src/gateway/providers/transport/stream.ts";
import { readAll } from "../../../support/providers/call.ts";
import { timerStepMs } from "../../../../src/kernel/clock.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { CountingBody } from "../../../support/providers/counting-body.ts";
import { OneByOne } from "../../../support/providers/one-by-one.ts";
import { chunk, usageOf } from "../../../support/providers/stub-answers.ts";
import type { Transcript } from "../../../support/providers/transcript.ts";

const clocks = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000, streamMs: 900_000 };
const url = new URL("http://provider.example/v1");

/** A stream over a body that counts its reads. */
function counting(...pieces: string[]) {
  return open(new CountingBody(pieces));
}

async function open(body: CountingBody, format: WireFormat = openai) {
  const clock = new ManualClock();
  const upstream = new UpstreamCall({ clock, clocks, startedAt: clock.monotonic() });
  await upstream.post(body.transport, url, { headers: {}, body: "{}" });
  const events = new ProviderStream({ upstream, format, clock });
  return { body, clock, stream: new OneByOne(events) };
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const three = ["a", "b", "c"].map((content) => event(chunk({ content }))).join("");
const done = `${event(chunk({}, "stop"))}data: [DONE]\n\n`;

test("the stream does not read the network before the first request for events", async () => {
  const { body } = await counting(three, done);
  await settled();
  expect(body.asked).toBe(0);
});

test("events that arrive together are delivered together, and the stream reads on only on request", async () => {
  const { body, stream } = await counting(three, event(chunk({ content: "d" })), done);
  for (const content of ["a", "b", "c"]) expect(await stream.next()).toMatchObject({ delta: { content } });
  await settled();
  expect(body.asked).toBe(1);
  expect(await stream.next()).toMatchObject({ delta: { content: "d" } });
  expect(body.asked).toBe(2);
});

test("the stream reads on until an event is complete", async () => {
  const { body, stream } = await counting(": comment\n\n", three.slice(0, 20), three.slice(20), done);
  expect(await stream.next()).toMatchObject({ delta: { content: "a" } });
  expect(body.asked).toBe(3);
});

test("a document in place of a stream is read to the bound of a whole answer", async () => {
  const piece = " ".repeat(upstreamAnswerBytesMax / 4);
  const { body, stream } = await counting('{"a":', piece, piece, piece, piece, "1}");
  expect((await readAll(stream)).failure).toBeInstanceOf(OversizedAnswer);
  expect(body.ended).not.toBeNull();
});

test("a list in place of a stream is read to the bound of one event", async () => {
  const item = `${JSON.stringify(chunk({ content: "a" }))},`;
  const items = item.repeat(upstreamEventBytesMax / 4 / item.length);
  const end = JSON.stringify(chunk({}, "stop"));
  const whole = await counting(" [", items, items, items, `${end}]`);
  expect(await readAll(whole.stream)).toMatchObject({ last: "end" });
  const { body, stream } = await counting(" [", items, items, items, items, items, `${end}]`);
  expect((await readAll(stream)).failure).toBeInstanceOf(OversizedAnswer);
  expect(body.ended).not.toBeNull();
});

test("other calls have their turns while a stream in place of a whole answer is decoded", async () => {
  const events = 20_000;
  const decoder = openai.streamDecoder();
  let inTurn = 0;
  let mostInTurn = 0;
  let turns = setImmediate(function next() {
    inTurn = 0;
    turns = setImmediate(next);
  });
  const answer = await assembledAnswer(event(chunk({ content: "a" })).repeat(events) + done, (data) => {
    mostInTurn = Math.max(mostInTurn, ++inTurn);
    return decoder(data);
  });
  clearImmediate(turns);
  expect(answer.message["content"]).toBe("a".repeat(events));
  expect(mostInTurn).toBeLessThan(events / 5);
});

test("the end is delivered once, and nothing after it", async () => {
  const { stream } = await counting(three, `${done}${event(chunk({ content: "too late" }))}`);
  expect(await readAll(stream)).toMatchObject({ text: "abc", last: "end" });
  expect(await stream.next()).toBeNull();
});

test("a failure is delivered once, and the rest of the body is discarded", async () => {
  const { body, stream } = await counting(three, `${event({ error: { message: "x" } })}${three}`, three);
  expect(await readAll(stream)).toMatchObject({ text: "abc", last: "failure" });
  expect(await stream.next()).toBeNull();
  expect(body.ended).not.toBeNull();
});

test("unread events are not delivered after the total timeout", async () => {
  const { clock, stream } = await counting(three, three, done);
  for (let event = 0; event < 3; event++) await stream.next();
  clock.advance(clocks.streamMs);
  expect(await stream.next()).toMatchObject({ kind: "failure", failure: { code: "upstream_timeout" } });
  expect(await stream.next()).toBeNull();
});

test("a cancel after the end lets the rest of the body be read", async () => {
  const { body, clock, stream } = await counting(`${three}${done}`, ": tail\n\n");
  await readAll(stream);
  await stream.cancel();
  await settled();
  expect({ asked: body.asked, ended: body.ended }).toEqual({ asked: 3, ended: null });
  expect(clock.pending).toBe(0);
});

test.each([
  ["that does not end", [], streamTailMs],
  ["that goes on for too long", ["x".repeat(streamTailBytesMax + 1)], 0],
])("a body %s after the last event is closed, and nothing waits for it", async (_, tail, ms) => {
  const { body, clock, stream } = await open(new CountingBody([`${three}${done}`, ...tail], { silent: true }));
  await readAll(stream);
  clock.advance(ms);
  expect(body.ended).not.toBeNull();
  expect(clock.pending).toBe(0);
});

test("a body that ends in time after the last event is not closed", async () => {
  const { body, clock, stream } = await open(new CountingBody([`${three}${done}`], { silent: true }));
  await readAll(stream);
  clock.advance(streamTailMs - 1);
  body.finish();
  clock.advance(streamTailMs);
  expect(body.ended).toBeNull();
  expect(clock.pending).toBe(0);
});

describe("a call after the finish reason", () => {
  const piece = (fields: object, text: string, finishReason: string | null = null) =>
    event(
      chunk({ tool_calls: [{ ...fields, function: { ...("id" in fields && { name: "now" }), arguments: text } }] }, finishReason),
    );
  const first = piece({ index: 0, id: "a", type: "function" }, '{"city":"Oslo"}') + event(chunk({}, "tool_calls"));
  const begun = piece({ index: 1, id: "b", type: "function" }, '{"city":"Pa');
  const older = event(chunk({ function_call: { name: "now", arguments: '{"city":"Pa' } }));
  const brokeOff = { last: "failure", failure: { message: "the stream broke off" } };

  test.each([
    ["begins", first + begun],
    ["of another call has begun", first + begun + piece({ index: 2, id: "c", type: "function" }, "{}")],
    ["has no arguments yet", first + piece({ index: 1, id: "b", type: "function" }, "")],
    ["of the older form begins", event(chunk({ content: "a" }, "stop")) + older],
    ["goes on", piece({ index: 0, id: "a", type: "function" }, "{", "tool_calls") + piece({ index: 0 }, '"city":"Pa')],
  ])("that %s is not whole at the end of the body", async (_, text) => {
    const { stream } = await counting(text);
    expect(await readAll(stream)).toMatchObject(brokeOff);
  });

  test.each([
    ["is whole", begun + piece({ index: 1 }, 'ris"}')],
    ["has a finish reason of its own", `${begun}${event(chunk({}, "tool_calls"))}`],
    ["the provider ends", `${begun}data: [DONE]\n\n`],
  ])("ends the answer well once it %s", async (_, text) => {
    const { stream } = await counting(first + text);
    expect(await readAll(stream)).toMatchObject({ last: "end", failure: null });
  });

  test("began before it and ends after it", async () => {
    const { stream } = await counting(
      piece({ index: 0, id: "a", type: "function" }, "{", "tool_calls") + piece({ index: 0 }, "}"),
    );
    expect(await readAll(stream)).toMatchObject({ last: "end", toolCalls: [{ arguments: "{}" }] });
  });

  test("is awaited although its usage comes alone, and whole with the rest of its arguments", async () => {
    const usage = (output: number) => event({ choices: [], usage: usageOf(10, output) });
    const { body, clock, stream } = await open(new CountingBody([first + begun + usage(3)], { silent: true }));
    const reading: { ended: Transcript | null } = { ended: null };
    void readAll(stream).then((transcript) => (reading.ended = transcript));
    await settled();
    body.give(usage(4));
    await clock.pass(callGraceMs * 2);
    expect(reading.ended).toBeNull();
    body.give(piece({ index: 1 }, 'ris"}') + usage(5));
    await clock.pass(callGraceMs + timerStepMs);
    expect(reading.ended).toMatchObject({ last: "end", toolCalls: [{}, { arguments: '{"city":"Paris"}' }] });
    expect(clock.pending).toBe(0);
  });
});

describe("a finished stream whose end does not come", () => {
  const finished = three + event(chunk({}, "stop"));
  const usage = event({ choices: [], usage: usageOf(10, 3) });
  const call = (finishReason: string | null) =>
    event(
      chunk({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "now", arguments: "{}" } }] }, finishReason),
    );

  /** Reads the stream to its end. `ended` is null until it has come. */
  async function awaited(text: string, format?: WireFormat) {
    const opened = await open(new CountingBody([text], { silent: true }), format);
    const reading: { ended: Transcript | null } = { ended: null };
    void readAll(opened.stream).then((transcript) => (reading.ended = transcript));
    await settled();
    return { ...opened, reading };
  }

  const counted: [string, WireFormat, string][] = [
    ["openai", openai, finished + usage],
    [
      "anthropic",
      anthropic,
      [
        { type: "message_start", message: { id: "m", usage: { input_tokens: 10, output_tokens: 1 } } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "abc" } },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      ]
        .map(event)
        .join(""),
    ],
    [
      "google",
      google,
      event({
        candidates: [{ content: { parts: [{ text: "abc" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 },
      }),
    ],
  ];

  test.each(counted)("ends soon once its usage is there, despite comments: %s", async (_, format, text) => {
    const { body, clock, reading } = await awaited(text, format);
    await clock.pass(streamTailMs - 1);
    expect(reading.ended).toBeNull();
    body.give(": heartbeat\n\n");
    await clock.pass(timerStepMs);
    expect(reading.ended).toMatchObject({ text: "abc", finishReasons: ["stop"], last: "end", usage: { completionTokens: 3 } });
    expect(body.ended).not.toBeNull();
    expect(clock.pending).toBe(0);
  });

  test("waits some seconds for its usage, which neither comments nor empty chunks prolong", async () => {
    const { body, clock, reading } = await awaited(finished);
    for (let ms = 0; ms < finishGraceMs - 1_000; ms += 1_000) {
      await clock.pass(1_000);
      body.give(": heartbeat\n\n");
      body.give(event(chunk({ role: "assistant", content: "" })));
      await settled();
    }
    expect(reading.ended).toBeNull();
    await clock.pass(1_000 + timerStepMs);
    expect(reading.ended).toMatchObject({ text: "abc", last: "end", usage: null });
    expect(clock.pending).toBe(0);
  });

  test("waits for the second part of its usage", async () => {
    const { body, clock, reading } = await awaited(finished + event({ choices: [], usage: { prompt_tokens: 10 } }));
    await clock.pass(streamTailMs * 2);
    expect(reading.ended).toBeNull();
    body.give(event({ choices: [], usage: { completion_tokens: 3 } }));
    await clock.pass(streamTailMs + timerStepMs);
    expect(reading.ended).toMatchObject({ last: "end", usage: { promptTokens: 10, completionTokens: 3 } });
  });

  test("gives a call that comes after the finish reason its time, up to the next one", async () => {
    const { body, clock, reading } = await awaited(finished + usage);
    body.give(call(null));
    await clock.pass(callGraceMs * 2);
    expect(reading.ended).toBeNull();
    body.give(event(chunk({}, "tool_calls")));
    await clock.pass(callGraceMs + timerStepMs);
    expect(reading.ended).toMatchObject({ last: "end", toolCalls: [{ name: "now" }] });
    expect(clock.pending).toBe(0);
  });

  const googleCall = (city: string) =>
    event({
      candidates: [{ content: { parts: [{ functionCall: { name: "weather", args: { city } } }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: city.length, totalTokenCount: 10 + city.length },
    });

  test.each<[string, WireFormat, string, string]>([
    ["openai", openai, call("tool_calls"), call("tool_calls").replaceAll(/"(a|now)"/g, '"b"')],
    ["google", google, googleCall("Oslo"), googleCall("Bergen")],
  ])("waits for another call, which its provider may have to write first: %s", async (_, format, one, other) => {
    const { body, clock, reading } = await awaited(one, format);
    await clock.pass(callGraceMs - 1);
    expect(reading.ended).toBeNull();
    body.give(other);
    await clock.pass(callGraceMs - 1);
    expect(reading.ended).toBeNull();
    await clock.pass(timerStepMs + 1);
    expect(reading.ended).toMatchObject({ last: "end" });
    expect(reading.ended?.toolCalls).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  test("ends soon after calls once their usage has come alone", async () => {
    const { clock, reading } = await awaited(call("tool_calls") + usage);
    await clock.pass(streamTailMs + timerStepMs);
    expect(reading.ended).toMatchObject({ last: "end", toolCalls: [{ name: "now" }] });
  });

  test("does not lose what arrives while its reader takes nothing", async () => {
    const { body, clock, stream } = await open(new CountingBody([finished], { silent: true }));
    for (const content of ["a", "b", "c"]) expect(await stream.next()).toMatchObject({ delta: { content } });
    expect(await stream.next()).toMatchObject({ finishReason: "stop" });
    await clock.pass(finishGraceMs * 2);
    const next = stream.next();
    await clock.pass(timerStepMs);
    body.give(usage);
    expect(await next).toMatchObject({ kind: "usage" });
    await stream.cancel();
    expect(clock.pending).toBe(0);
  });
});
