/** Answers as compatible servers really send them: each case over all formats where it can occur, whole and streamed. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireFormatName } from "../../../src/gateway/models/model.ts";
import { failureOf, callStream, callWhole, readAll } from "../../support/providers/call.ts";
import { event, message, messageEvents } from "../../support/providers/anthropic-answers.ts";
import { googleChat } from "../../support/providers/google-answers.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, chunk, completion, json, rawStream, text, type StubAnswer } from "../../support/providers/stub-answers.ts";
import type { Transcript } from "../../support/providers/transcript.ts";

const formats = ["openai", "anthropic", "google"] as const;
type Format = (typeof formats)[number];

let provider = await startProviderStub();
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
});
afterAll(() => provider[Symbol.asyncDispose]());

const routeOf = (format: WireFormatName) => aRoute({ format, base_url: provider.url });

async function streamed(format: WireFormatName): Promise<Transcript> {
  return readAll(await callStream({ route: routeOf(format) }));
}

const eventStream = "text/event-stream";
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function googleAnswer(parts: object[], finishes: boolean): object {
  const candidate = { content: { role: "model", parts }, ...(finishes && { finishReason: "STOP" }) };
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };
  return { candidates: [candidate], usageMetadata, responseId: "R1" };
}

const counts = { promptTokens: 10, completionTokens: 2 };

/** The recorded text of a format: the events of its stream, its whole body, and what each says. */
function recordedText(format: WireFormatName) {
  const read = (file: string): string => readFileSync(join(import.meta.dir, "../../fixtures", format, file), "utf8");
  const { body, expected } = JSON.parse(read("answers.json")).text;
  const { text: said, finishReason, usage } = JSON.parse(read("streams.json")).text;
  const lines = read("streams/text.chunks.txt").split("\n").slice(0, -1);
  return {
    events: lines.map((line) => `data: ${line}\n\n`).join(""),
    ofEvents: { content: said, finishReason, usage },
    whole: JSON.stringify(body, null, 2),
    ofWhole: { content: expected.content, finishReason: expected.finishReason, usage: expected.usage },
  };
}

describe.each(["openai", "openai-responses", "anthropic", "google"] as const)(
  "an answer of format %s in another wrapping",
  (format) => {
    const { events, ofEvents, whole, ofWhole } = recordedText(format);
    const toldByStream = async () => {
      const { text: content, finishReasons, usage, last } = await streamed(format);
      return { content, finishReason: finishReasons.join(), usage, last };
    };

    test.each(["application/json", "text/plain; charset=utf-8", "text/html", "application/octet-stream"])(
      "a stream is one under the content type %s",
      async (type) => {
        provider.answer(text(events, { type }));
        expect(await toldByStream()).toEqual({ ...ofEvents, last: "end" });
      },
    );

    test.each(["application/json", eventStream])("a whole answer under %s is the stream that was asked for", async (type) => {
      provider.answer(text(`\n ${whole}`, { type }));
      expect(await toldByStream()).toEqual({ ...ofWhole, last: "end" });
      expect(provider.calls).toHaveLength(1);
    });

    test.each(["application/json", eventStream])("a stream under %s is the whole answer that was asked for", async (type) => {
      provider.answer(text(`: begins\n\n${events}`, { type }));
      const { message, finishReason, usage } = await callWhole({ route: routeOf(format) });
      expect<unknown>({ content: message.content, finishReason, usage }).toEqual(ofEvents);
      expect(message).toMatchObject({ role: "assistant", refusal: null });
    });

    test("a whole answer is one in every split by the network", async () => {
      const bytes = Buffer.from(`\uFEFF\r\n ${whole}`);
      provider.answer(rawStream(...Array.from(bytes, (byte) => Uint8Array.of(byte))));
      expect(await toldByStream()).toEqual({ ...ofWhole, last: "end" });
    });

    test("half a stream in place of a whole answer is a failure", async () => {
      provider.answer(text(events.slice(0, events.length / 2), { type: eventStream }));
      expect((await failureOf(callWhole({ route: routeOf(format) }))).code).toBe("upstream_error");
    });

    test("half a whole answer in place of a stream is a failure", async () => {
      provider.answer(text(whole.slice(0, -2), { type: "application/json" }));
      expect(await streamed(format)).toMatchObject({ text: "", last: "failure", failure: { code: "upstream_error" } });
    });
  },
);

test("a whole answer with calls is a stream of them, and a stream of them a whole answer", async () => {
  const calls = ["Oslo", "Rome"].map((city, at) => ({
    id: `call_${at}`,
    type: "function",
    function: { name: "weather", arguments: JSON.stringify({ city }) },
  }));
  const thinking = { content: null, reasoning_content: "Two." };
  provider.answer(json(completion({ role: "assistant", ...thinking, tool_calls: calls }, "tool_calls")));
  const transcript = await streamed("openai");
  expect(transcript).toMatchObject({ reasoning: "Two.", finishReasons: ["tool_calls"], last: "end" });
  expect(transcript.toolCalls).toEqual(calls.map(({ id, function: called }) => ({ id, ...called })));
  const pieces = calls.flatMap(({ function: { arguments: argued, ...named }, ...call }, index) => [
    chunk({ tool_calls: [{ index, ...call, function: { ...named, arguments: argued.slice(0, 5) } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: argued.slice(5) } }] }),
  ]);
  const all = [
    chunk({ role: "assistant", reasoning_content: "Tw" }),
    chunk({ reasoning_content: "o." }),
    ...pieces,
    chunk({}, "stop"),
  ];
  provider.answer(text(all.map(data).join(""), { type: eventStream }));
  const answer = await callWhole({ route: routeOf("openai") });
  expect(answer.message).toEqual({ role: "assistant", refusal: null, ...thinking, tool_calls: calls });
  expect(answer.finishReason).toBe("tool_calls");
});

test("a list of chunks, which Google sends unless asked for events, is their stream", async () => {
  const chunks = [googleAnswer([{ text: "Hello " }], false), googleAnswer([{ text: "there" }], true)];
  provider.answer(text(`[${chunks.map((one) => JSON.stringify(one, null, 1)).join(",\r\n")}\n]`, { type: "application/json" }));
  expect(await streamed("google")).toMatchObject({ text: "Hello there", finishReasons: ["stop"], usage: counts, last: "end" });
});

describe("finish reasons of providers' own", () => {
  const said: Record<Format, (finish: string) => StubAnswer> = {
    openai: (finish) => chat("Hal", { finish }),
    anthropic: (stop) => message("Hal", { stop }),
    google: (finish) => googleChat("Hal", { finish }),
  };
  const compatible: [string, string][] = [
    ["sensitive", "content_filter"],
    ["guardrail_intervened", "content_filter"],
    ["content_filter: PROHIBITED_CONTENT", "content_filter"],
    ["refusal", "content_filter"],
    ["model_context_window_exceeded", "length"],
    ["MAX_TOKENS", "length"],
    ["something_new", "stop"],
    ["constructor", "stop"],
    ["network_error", "failed"],
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "failed"],
    ["abort", "failed"],
  ];
  const cases: [Format, string, string][] = [
    ...compatible.map(([word, meaning]): [Format, string, string] => ["openai", word, meaning]),
    ...compatible.map(([word, meaning]): [Format, string, string] => ["anthropic", word, meaning]),
    ["anthropic", "pause_turn", "stop"],
    ["google", "MODEL_ARMOR", "content_filter"],
    ["google", "NO_IMAGE", "content_filter"],
    ["google", "SOMETHING_NEW", "content_filter"],
    ["google", "MALFORMED_RESPONSE", "failed"],
    ["google", "TOO_MANY_TOOL_CALLS", "failed"],
  ];

  test.each(cases)("of format %s: %s means %s", async (format, word, meaning) => {
    provider.answer(said[format](word));
    const transcript = await streamed(format);
    if (meaning === "failed") {
      expect(transcript).toMatchObject({ last: "failure", failure: { code: "upstream_error" }, finishReasons: [] });
      expect((await failureOf(callWhole({ route: routeOf(format) }))).code).toBe("upstream_error");
    } else {
      expect<unknown>(transcript).toMatchObject({ text: "Hal", finishReasons: [meaning], last: "end" });
      expect<string>((await callWhole({ route: routeOf(format) })).finishReason).toBe(meaning);
    }
  });

  test("a word for none, in every chunk before the last, ends nothing", async () => {
    provider.answer(
      text([chunk({ content: "Hel" }, "null"), chunk({ content: "lo" }, "length")].map(data).join(""), { type: eventStream }),
    );
    expect(await streamed("openai")).toMatchObject({ text: "Hello", finishReasons: ["length"] });
  });
});

describe("a failure with status 200, however it is told", () => {
  const secret = "Do not show this";
  const shapes: [string, unknown][] = [
    ["an object of the kind error", { object: "error", message: secret, type: "InternalServerError", code: 500 }],
    ["a message beside a code", { message: secret, code: "internal_error", request_id: "r" }],
    ["a message beside a type", { message: secret, type: "InternalServerError" }],
    ["a text as detail", { detail: secret }],
    ["a list of details", { detail: [{ loc: ["body"], msg: secret, type: "value_error" }] }],
    ["a text as error", { error: secret, code: 500 }],
    ["a list of errors", { success: false, errors: [{ message: secret, code: 5_000 }] }],
    ["an error in a list", [{ error: { message: secret, code: 500 } }]],
    ["a code and a msg", { code: 500, msg: secret, success: false }],
    ["the base of an answer", { id: "1", choices: null, base_resp: { status_code: 1_000, status_msg: secret } }],
  ];
  const begun: Record<Format, string> = {
    openai: data(chunk({ role: "assistant", content: "Hal" })),
    anthropic: messageEvents("Hal").slice(0, 4).map(event).join(""),
    google: data({ candidates: [{ content: { parts: [{ text: "Hal" }] } }] }),
  };
  const ended: Record<Format, string> = { openai: "data: [DONE]\n\n", anthropic: event({ type: "message_stop" }), google: "" };
  const expectFailure = (transcript: Transcript, said: string): void => {
    expect(transcript).toMatchObject({ text: said, last: "failure", finishReasons: [], failure: { code: "upstream_error" } });
    expect(`${transcript.failure?.message} ${transcript.failure?.hint}`).not.toContain(secret);
  };

  describe.each(formats)("of format %s", (format) => {
    test.each(shapes)("%s", async (_, shape) => {
      provider.answer(text(begun[format] + data(shape) + ended[format], { type: eventStream }));
      expectFailure(await streamed(format), "Hal");
      provider.answer(text(data(shape) + ended[format], { type: eventStream }));
      expectFailure(await streamed(format), "");
      provider.answer(json(shape));
      expectFailure(await streamed(format), "");
      const failure = await failureOf(callWhole({ route: routeOf(format) }));
      expect(failure.code).toBe("upstream_error");
      expect(`${failure.message} ${failure.hint}`).not.toContain(secret);
    });

    test.each([
      ["a text", secret],
      ["fields", JSON.stringify({ message: secret })],
      ["an error", JSON.stringify({ error: { message: secret } })],
    ])("an event that is named error, with %s", async (_, told) => {
      provider.answer(text(`${begun[format]}event: error\ndata: ${told}\n\n${ended[format]}`, { type: eventStream }));
      expectFailure(await streamed(format), "Hal");
    });
  });

  describe.each(formats)("a notice is none, of format %s", (format) => {
    const { events, ofEvents } = recordedText(format);
    const after = events.slice(events.lastIndexOf("data: ", events.indexOf('"lo')));

    test.each([
      { message: "queued", status: "in_progress" },
      { message: "queued", status: "PENDING" },
      { message: "starting a machine", code: 202 },
      { message: "starting a machine", code: "102", status: "loading" },
    ])("at the start or within: %p", async (notice) => {
      provider.answer(text(data(notice) + events, { type: eventStream }));
      expect(await streamed(format)).toMatchObject({ text: ofEvents.content, last: "end", failure: null });
      provider.answer(text(begun[format] + data(notice) + after, { type: eventStream }));
      expect(await streamed(format)).toMatchObject({ text: expect.stringContaining("lo"), last: "end", failure: null });
    });

    test("words of the provider's own: a failure at the start, and within an answer none", async () => {
      const notice = { message: "Moved to another machine", code: "migrated" };
      provider.answer(text(data(notice) + events, { type: eventStream }));
      expectFailure(await streamed(format), "");
      provider.answer(text(begun[format] + data(notice) + after, { type: eventStream }));
      expect(await streamed(format)).toMatchObject({ text: expect.stringContaining("lo"), last: "end", failure: null });
      provider.answer(text(begun[format] + data({ ...notice, status: 503 }) + after, { type: eventStream }));
      expectFailure(await streamed(format), "Hal");
    });
  });

  test("its code is read wherever it stands", async () => {
    for (const shape of [
      { object: "error", message: secret, code: 429 },
      { message: secret, code: "rate_limit_exceeded" },
      { error: secret, code: 429 },
      [{ error: { message: secret, code: 429 } }],
    ]) {
      provider.answer(text(data(shape), { type: eventStream }));
      expect((await streamed("openai")).failure?.code).toBe("upstream_rate_limited");
      provider.answer(json(shape));
      expect((await failureOf(callWhole({ route: routeOf("openai") }))).code).toBe("upstream_rate_limited");
    }
  });

  test("what says that all is well is no failure", async () => {
    const well = [
      { code: 0, message: "success" },
      { choices: [], base_resp: { status_code: 0, status_msg: "" } },
    ];
    provider.answer(text(well.map(data).join("") + recordedText("openai").events, { type: eventStream }));
    expect(await streamed("openai")).toMatchObject({ text: "Hello", last: "end" });
  });
});

describe("what follows a finish reason", () => {
  const call = (index: number) => ({ index, id: `call_${index}`, type: "function", function: { name: "now", arguments: "{}" } });
  const both = [
    { id: "call_0", name: "now", arguments: "{}" },
    { id: "call_1", name: "now", arguments: "{}" },
  ];

  test.each(["stop", "tool_calls"])("another call of the openai format, after %s", async (finish) => {
    provider.answer(
      text([chunk({ tool_calls: [call(0)] }, finish), chunk({ tool_calls: [call(1)] }, finish)].map(data).join("")),
    );
    const transcript = await streamed("openai");
    expect(transcript).toMatchObject({ toolCalls: both, finishReasons: ["tool_calls", "tool_calls"], last: "end" });
  });

  test("the first call, after stop", async () => {
    provider.answer(text([chunk({ content: "So:" }, "stop"), chunk({ tool_calls: [call(0)] }, "stop")].map(data).join("")));
    const transcript = await streamed("openai");
    expect(transcript).toMatchObject({ toolCalls: both.slice(0, 1), last: "end" });
    expect(transcript.finishReasons.at(-1)).toBe("tool_calls");
  });

  test("another call of Google's format", async () => {
    const part = (city: string) => ({ functionCall: { id: city, name: "weather", args: { city } } });
    provider.answer(text(["Oslo", "Rome"].map((city) => data(googleAnswer([part(city)], true))).join("")));
    const transcript = await streamed("google");
    expect(transcript).toMatchObject({ finishReasons: ["tool_calls", "tool_calls"], last: "end" });
    expect(transcript.toolCalls.map((one) => one.arguments)).toEqual(['{"city":"Oslo"}', '{"city":"Rome"}']);
  });

  test("another call of Anthropic's format", async () => {
    const input = { id: "toolu_1", name: "now", input: { zone: "UTC" } };
    const all = messageEvents("", { calls: [input, { ...input, id: "toolu_2" }] });
    const [finish] = all.splice(-2, 1);
    const second = all.findIndex((one) => one["index"] === 1);
    provider.answer(text([...all.slice(0, second), finish ?? {}, ...all.slice(second)].map(event).join("")));
    expect((await streamed("anthropic")).toolCalls.map(({ id }) => id)).toEqual(["toolu_1", "toolu_2"]);
  });
});

describe("a call without arguments has an empty object", () => {
  const named = (called: object) => ({ index: 0, id: "call_1", type: "function", function: { name: "now", ...called } });
  const expected = [{ id: "call_1", name: "now", arguments: "{}" }];

  test.each<[string, object]>([
    ["empty", { arguments: "" }],
    ["blank", { arguments: " \n" }],
    ["null", { arguments: null }],
    ["absent", {}],
    ["an empty object", { arguments: {} }],
  ])("of the openai format: %s", async (_, called) => {
    const { index: _index, ...call } = named(called);
    provider.answer(json(completion({ role: "assistant", content: null, tool_calls: [call] }, "tool_calls")));
    const { message: whole } = await callWhole({ route: routeOf("openai") });
    expect(whole["tool_calls"]).toEqual([{ id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }]);
    for (const end of ["data: [DONE]\n\n", ""]) {
      const chunks = [chunk({ tool_calls: [named(called)] }), chunk({}, "tool_calls")].map(data).join("");
      provider.answer(text(chunks + end, { type: eventStream }));
      const { toolCalls, last } = await streamed("openai");
      expect(toolCalls.map((one) => ({ ...one, arguments: one.arguments.trim() }))).toEqual(expected);
      expect(last).toBe("end");
    }
  });

  test("of a function in the older form", async () => {
    const called = { name: "now", arguments: "" };
    provider.answer(json(completion({ role: "assistant", content: null, function_call: called }, "function_call")));
    const { message: whole } = await callWhole({ route: routeOf("openai") });
    expect(whole["function_call"]).toEqual({ name: "now", arguments: "{}" });
    provider.answer(text([chunk({ function_call: called }), chunk({}, "function_call")].map(data).join("")));
    const events = await callStream({ route: routeOf("openai") });
    let argued = "";
    for (let one = await events.next(); one !== null; one = await events.next()) {
      const call = one.kind === "delta" ? (one.delta["function_call"] as { arguments: string } | undefined) : undefined;
      argued += call?.arguments ?? "";
    }
    expect(argued).toBe("{}");
  });

  test("of a custom tool, whose input is no JSON, it stays empty", async () => {
    const call = { index: 0, id: "call_1", type: "custom", custom: { name: "say", input: "" } };
    provider.answer(json(completion({ role: "assistant", content: null, tool_calls: [call] }, "tool_calls")));
    const { message: whole } = await callWhole({ route: routeOf("openai") });
    expect(whole["tool_calls"]).toEqual([{ id: "call_1", type: "custom", custom: { name: "say", input: "" } }]);
  });

  test.each<[string, object]>([
    ["absent", {}],
    ["null", { args: null }],
    ["an empty text", { args: "" }],
    ["an empty object", { args: {} }],
  ])("of Google's format: %s", async (_, args) => {
    provider.answer(googleChat([{ functionCall: { id: "call_1", name: "now", ...args } }]));
    const { message: whole } = await callWhole({ route: routeOf("google") });
    expect(whole["tool_calls"]).toEqual([{ id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }]);
    expect((await streamed("google")).toolCalls).toEqual(expected);
  });
});

describe("arguments that come after their call's name, in Google's format", () => {
  const name = { functionCall: { name: "weather", args: {} } };
  const later = (city: string, id?: string) => ({ functionCall: { ...(id && { id }), args: { city } } });

  test("belong to that call", async () => {
    provider.answer(googleChat([name, later("Oslo"), { text: "Done" }]));
    expect((await streamed("google")).toolCalls).toMatchObject([{ name: "weather", arguments: '{"city":"Oslo"}' }]);
    const { message: whole } = await callWhole({ route: routeOf("google") });
    expect(whole["tool_calls"]).toMatchObject([{ function: { name: "weather", arguments: '{"city":"Oslo"}' } }]);
  });

  test("belong to it although it has told the end", async () => {
    provider.answer(text([name, later("Oslo")].map((part) => data(googleAnswer([part], true))).join(""), { type: eventStream }));
    expect((await streamed("google")).toolCalls).toMatchObject([{ name: "weather", arguments: '{"city":"Oslo"}' }]);
  });

  test("are one piece with it in one event", async () => {
    provider.answer(text(data(googleAnswer([name, later("Oslo")], true)), { type: eventStream }));
    const events = await callStream({ route: routeOf("google") });
    const called = { name: "weather", arguments: '{"city":"Oslo"}' };
    expect(await events.next()).toMatchObject({ delta: { tool_calls: [{ index: 0, function: called }] } });
    await events.cancel();
  });

  test("are told apart by ids", async () => {
    const calls = ["a", "b"].map((id) => ({ functionCall: { id, name: "weather" } }));
    provider.answer(googleChat([...calls, later("Rome", "b"), later("Oslo", "a")]));
    expect((await streamed("google")).toolCalls.map((one) => one.arguments)).toEqual(['{"city":"Oslo"}', '{"city":"Rome"}']);
  });

  test.each([
    ["that no call waits for", [later("Oslo")]],
    ["that two calls wait for", [name, name, later("Oslo")]],
    ["in a form that nobody asked for", [{ functionCall: { name: "weather", partialArgs: [{ jsonPath: "$.city" }] } }]],
  ])("%s are a failure", async (_, parts) => {
    provider.answer(googleChat(parts));
    expect(await streamed("google")).toMatchObject({ last: "failure", failure: { code: "upstream_error" } });
    expect((await failureOf(callWhole({ route: routeOf("google") }))).code).toBe("upstream_error");
  });
});
