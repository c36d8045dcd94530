/** Providers that misbehave: the error that the client gets, and the exact charge. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ErrorCode, errorTable } from "../../../../../src/kernel/errors.ts";
import {
  chat,
  chunk,
  completion,
  empty,
  htmlPage,
  json,
  rawStream,
  redirect,
  stream,
  text,
  usageOf,
  type StubAnswer,
} from "../../../../support/providers/stub-answers.ts";
import { expectSound, post, settledAlone, stage, type Stage } from "./stage.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

function ask(key: string, streamed: boolean): Promise<Response> {
  const request = { model: "stub/model", messages: [{ role: "user", content: "Hello" }], stream: streamed };
  return post(on, key, JSON.stringify({ ...request, ...(streamed && { stream_options: { include_usage: true } }) }));
}

/** The stub gives this answer to all calls until the next answer is set, since the gateway may retry. */
async function answered(answer: StubAnswer, streamed: boolean) {
  const customer = await on.customer();
  on.stub.answer(answer);
  const response = await ask(customer.key, streamed);
  const body = await response.text();
  on.stub.answer(chat("Hello from the stub"));
  expect(response.headers.get("x-generation-id")).toMatch(/^gen-/);
  return { customer, response, body };
}

const reporting = (error: Record<string, unknown>, status = 200) =>
  json({ error: { message: "Do not show this", ...error } }, status);
const broken: StubAnswer = (response) => void response.socket?.destroy();
const brokenHalfway: StubAnswer = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"id":"chatcmpl-1","choices":[{"mess');
  setTimeout(() => response.socket?.destroy(), 20);
};

describe("a provider that does not answer the request", () => {
  /** What HTTP itself may do; the bodies of answers and errors are in test/wire/conformance.test.ts. */
  const answers: [string, StubAnswer, ErrorCode][] = [
    ["nothing", empty, "upstream_error"],
    ["a page", htmlPage, "upstream_error"],
    ["half an answer, and the connection breaks", brokenHalfway, "upstream_error"],
    ["a connection that breaks", broken, "upstream_error"],
    ["a redirect", redirect("https://example.com/"), "upstream_error"],
    ["a request that is at fault", reporting({ type: "invalid_request_error" }, 400), "upstream_rejected"],
  ];

  describe.each([
    ["not streamed", false],
    ["streamed", true],
  ])("%s", (_, streamed) => {
    test.each(answers)("%s is an error and costs nothing", async (_name, answer, code) => {
      const { customer, response, body } = await answered(answer, streamed);
      expect(response.status).toBe(errorTable[code].status);
      expect(JSON.parse(body)).toMatchObject({ error: { code, type: errorTable[code].type, param: null } });
      expect(body).not.toContain("Do not show this");
      expect(await settledAlone(on, customer, 0n)).toMatchObject({ code, streamed, usage_estimated: false });
    });
  });

  const role = chunk({ role: "assistant", content: "" });
  const firstEvents: [string, StubAnswer, ErrorCode][] = [
    ["a comment, and no more", rawStream(": hello\n\n"), "upstream_error"],
    [
      "the role, and then an error",
      rawStream(`data: ${JSON.stringify(role)}\n\ndata: {"error":{"code":500}}\n\n`),
      "upstream_error",
    ],
    [
      "usage, and then an error",
      rawStream(`data: ${JSON.stringify({ usage: usageOf(9, 1) })}\n\n`, "data: {\n\n"),
      "upstream_error",
    ],
  ];

  test.each(firstEvents)("a stream whose first event is %s is an error and costs nothing", async (_, answer, code) => {
    const { customer, response, body } = await answered(answer, true);
    expect(response.status).toBe(errorTable[code].status);
    expect(JSON.parse(body)).toMatchObject({ error: { code, param: null } });
    expect(body).not.toContain("Do not show this");
    expect(await settledAlone(on, customer, 0n)).toMatchObject({ code, streamed: true });
  });
});

describe("half a stream", () => {
  const begun = [chunk({ role: "assistant", content: "12345678" }), chunk({ content: "1234" })];
  const failing = `data: {"error":{"message":"Do not show this","code":"rate_limit_exceeded"}}\n\n`;
  const lines = begun.map((one) => `data: ${JSON.stringify(one)}\n\n`);

  test.each<[string, StubAnswer]>([
    ["whose connection breaks", stream(begun, { end: "break" })],
    ["that just ends", stream(begun, { end: "no done" })],
    ["with an error in it", rawStream(...lines, failing)],
    ["with an event that is no JSON", rawStream(...lines, "data: {\n\n")],
    ["with an event that breaks off", rawStream(...lines, 'data: {"choices"')],
  ])("a stream %s ends with an error event and is charged what was delivered", async (_, answer) => {
    const { customer, response, body } = await answered(answer, true);
    expect(response.status).toBe(200);
    const [error, usage, done] = body.trimEnd().split("\n\n").slice(-3);
    expect(JSON.parse(error?.slice(6) ?? "")).toMatchObject({
      error: { type: "api_error", code: "upstream_error", param: null },
    });
    expect(JSON.parse(usage?.slice(6) ?? "")).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    expect(done).toBe("data: [DONE]");
    expect(body).not.toContain("Do not show this");
    const row = await settledAlone(on, customer);
    expect(row).toMatchObject({ status: 200, code: "upstream_error", usage_estimated: true, completion_tokens: 4 });
    expect(Number(row.cost_usd) * 1e9).toBeCloseTo(row.prompt_tokens * 1_000 + 4 * 2_000);
  });
});

test("a stream that breaks off before any text costs nothing", async () => {
  const { customer, response, body } = await answered(
    stream([chunk({ role: "assistant", content: "" })], { end: "break" }),
    true,
  );
  expect(response.status).toBe(200);
  expect(body).toMatch(/"code":"upstream_error".*"total_tokens":0.*data: \[DONE\]/s);
  const row = await settledAlone(on, customer, 0n);
  expect(row).toMatchObject({ code: "upstream_error", usage_estimated: false });
});

describe("a provider that reports wrong usage", () => {
  const wrong: [string, Record<string, unknown> | null][] = [
    ["is absent", null],
    ["is zero", usageOf(0, 0)],
    ["is a fraction", { prompt_tokens: 0.5, completion_tokens: 0.5 }],
  ];

  describe.each([false, true])("in an answer (streamed: %p)", (streamed) => {
    test.each(wrong)("the gateway estimates usage that %s, and marks it as estimated", async (_, usage) => {
      const { customer, response } = await answered(chat("12345678", { pieces: ["1234", "5678"], usage }), streamed);
      expect(response.status).toBe(200);
      const row = await settledAlone(on, customer);
      expect(row).toMatchObject({ completion_tokens: 3, usage_estimated: true, code: null });
      expect(row.prompt_tokens).toBeWithin(1, 20);
    });

    test("the gateway charges the reservation for usage above it, and logs the provider's counts", async () => {
      const { customer } = await answered(chat("Hi", { usage: usageOf(5_000, 2_000) }), streamed);
      const row = await settledAlone(on, customer);
      expect(row.cost_usd).toBe(row.reserved_usd);
      expect(row).toMatchObject({ prompt_tokens: 5_000, completion_tokens: 2_000, usage_estimated: false });
    });
  });

  test.each([
    ["reported twice, growing", [usageOf(9, 2), usageOf(9, 5)], [9, 5]],
    ["reported twice, the same", [usageOf(9, 5), usageOf(9, 5)], [9, 5]],
    ["reported twice, zeros at the end", [usageOf(9, 5), usageOf(0, 0)], [9, 5]],
    ["reported in two halves", [{ prompt_tokens: 9 }, { completion_tokens: 5 }], [9, 5]],
  ])("usage %s is counted once", async (_, usages, [prompt = 0, completionTokens = 0]) => {
    const head = { id: "chatcmpl-stub", object: "chat.completion.chunk", created: 1_795_000_000, model: "stub-model" };
    const chunks = [
      chunk({ role: "assistant", content: "Hi" }),
      chunk({}, "stop"),
      ...usages.map((usage) => ({ ...head, choices: [], usage })),
    ];
    const { customer, body } = await answered(stream(chunks), true);
    expect(body.match(/"usage":\{/g)).toHaveLength(1);
    const cost = BigInt(prompt) * 1_000n + BigInt(completionTokens) * 2_000n;
    expect(await settledAlone(on, customer, cost)).toMatchObject({ usage_estimated: false });
  });
});

describe("the forms of a stream", () => {
  const data = [
    chunk({ role: "assistant", content: "é😀" }),
    chunk({ content: "\u2028b" }),
    chunk({}, "stop"),
    { choices: [], usage: usageOf(9, 4) },
  ].map((value) => JSON.stringify(value));
  const plain = [...data, "[DONE]"].map((one) => `data: ${one}\n\n`).join("");
  const shapes: [string, StubAnswer][] = [
    ["in the usual form", rawStream(plain)],
    ["split at every byte", rawStream(...Array.from(Buffer.from(plain), (byte) => Uint8Array.of(byte)))],
    ["without [DONE]", rawStream(plain.replace("data: [DONE]\n\n", ""))],
    ["with its last line unfinished", rawStream(plain.trimEnd())],
    ["with much after [DONE]", rawStream(plain, plain)],
  ];

  test.each(shapes)("a stream %s is the same for its client and the ledger", async (_, answer) => {
    const { customer, body } = await answered(answer, true);
    const events = body.trimEnd().split("\n\n");
    const contents = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content);
    expect(contents).toEqual(["", "é😀", "\u2028b", undefined, undefined]);
    expect(events.at(-1)).toBe("data: [DONE]");
    expect(await settledAlone(on, customer, 17_000n)).toMatchObject({ code: null, usage_estimated: false });
  });
});

describe("a good answer in another wrapping is charged once, after one call", () => {
  const data = [chunk({ role: "assistant", content: "é😀" }), chunk({}, "stop"), { choices: [], usage: usageOf(9, 4) }];
  const events = [...data.map((value) => JSON.stringify(value)), "[DONE]"].map((one) => `data: ${one}\n\n`).join("");
  const whole = { ...completion({ role: "assistant", content: "é😀" }), usage: usageOf(9, 4) };
  const cases: [string, StubAnswer, boolean][] = [
    ["a stream as application/json", text(events, { type: "application/json" }), true],
    ["a whole answer where a stream was asked for", json(whole), true],
    ["a stream where a whole answer was asked for", text(events, { type: "text/event-stream" }), false],
  ];

  test.each(cases)("%s", async (_, answer, streamed) => {
    const calls = on.stub.calls.length;
    const { customer, response, body } = await answered(answer, streamed);
    expect(response.status).toBe(200);
    expect(body).toContain('"content":"é😀"');
    expect(body).toContain('"finish_reason":"stop"');
    expect(body.match(/"total_tokens":13/g)).toHaveLength(1);
    expect(on.stub.calls.length - calls).toBe(1);
    expect(await settledAlone(on, customer, 17_000n)).toMatchObject({ code: null, usage_estimated: false });
  });
});

test.each([false, true])(
  "a failed generation is tried again, and only the good one is charged (streamed: %p)",
  async (streamed) => {
    const calls = on.stub.calls.length;
    const failed = completion({ role: "assistant", content: "Hal" }, "network_error");
    on.stub.answerOnce(
      streamed ? rawStream(`data: ${JSON.stringify(chunk({ content: "Hal" }, "network_error"))}\n\n`) : json(failed),
    );
    const { customer, response, body } = await answered(chat("Hello", { usage: usageOf(9, 4) }), streamed);
    expect(response.status).toBe(200);
    expect(body).not.toContain("Hal");
    expect(on.stub.calls.length - calls).toBe(2);
    expect(await settledAlone(on, customer, 17_000n)).toMatchObject({ code: null });
  },
);

test("a finished answer whose provider only sends heartbeats from then on is ended and charged", async () => {
  const beating: StubAnswer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const all = [chunk({ role: "assistant", content: "Hello" }), chunk({}, "stop"), { choices: [], usage: usageOf(9, 4) }];
    response.write(all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""));
    const beats = setInterval(() => response.write(": heartbeat\n\n"), 50);
    response.on("close", () => clearInterval(beats));
  };
  const { customer, body } = await answered(beating, true);
  expect(body).toMatch(/"finish_reason":"stop".*"total_tokens":13.*data: \[DONE\]\n\n$/s);
  expect(await settledAlone(on, customer, 17_000n)).toMatchObject({ code: null, usage_estimated: false });
}, 30_000);
