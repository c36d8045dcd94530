import { afterAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { google } from "../../../../src/gateway/providers/registry.ts";
import { callStream, callWhole, readAll, testKey } from "../../../support/providers/call.ts";
import { googleChat } from "../../../support/providers/google-answers.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub } from "../../../support/providers/provider-stub.ts";

let provider = await startProviderStub();
let route = aRoute({ format: "google", base_url: provider.url });

describe("a provider that speaks generateContent", () => {
  beforeEach(async () => {
    await provider[Symbol.asyncDispose]();
    provider = await startProviderStub(googleChat("Hello there"));
    route = aRoute({ format: "google", base_url: provider.url });
  });
  afterAll(() => provider[Symbol.asyncDispose]());

  test("receives a whole call under its own path, with our key in its own header", async () => {
    expect(await callWhole({ route })).toMatchObject({ message: { content: "Hello there" }, finishReason: "stop" });
    const [call] = provider.calls;
    expect(call?.path).toBe("/v1/models/stub-model:generateContent");
    expect(call?.headers["x-goog-api-key"]).toBe(testKey);
    expect(call?.headers).not.toHaveProperty("authorization");
    expect(call?.body["generationConfig"]).toEqual({ maxOutputTokens: 100 });
  });

  test("receives a stream call, and its stream ends with the body", async () => {
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello there", finishReasons: ["stop"], last: "end" });
    expect(transcript.usage).toMatchObject({ promptTokens: 10, completionTokens: 2 });
    expect(provider.calls[0]?.path).toBe("/v1/models/stub-model:streamGenerateContent?alt=sse");
  });

  test("whose connection breaks after the finish reason has completed its answer", async () => {
    provider.answer(googleChat("Hello there", { end: "break" }));
    expect(await readAll(await callStream({ route }))).toMatchObject({ text: "Hello there", finishReasons: ["stop"] });
  });

  test("keeps its connection for the next call after a stream", async () => {
    const ports = new Set<number | undefined>();
    provider.answer((response, call) => {
      ports.add(response.socket?.remotePort);
      return googleChat("Hello there")(response, call);
    });
    for (let call = 1; call <= 3; call++) {
      await readAll(await callStream({ route }));
      await provider.ended(call);
    }
    expect(ports.size).toBe(1);
  });
});

test("an event's calls are read without a search of all calls for each", () => {
  const calls = 1_000;
  let searched = 0;
  const spies = (["find", "filter"] as const).map((name) => {
    const search = Array.prototype[name] as unknown as (...all: unknown[]) => unknown;
    return spyOn(Array.prototype, name).mockImplementation(function (this: unknown[], ...all: unknown[]) {
      searched += this.length;
      return Reflect.apply(search, this, all) as never;
    });
  });
  const parts = Array.from({ length: calls }, (_, index) => ({ functionCall: { id: `c${index}`, name: "now" } }));
  const rest = Array.from({ length: calls }, (_, index) => ({ functionCall: { id: `c${index}`, args: { index } } }));
  const whole = Array.from({ length: calls }, (_, index) => ({
    functionCall: { id: `d${index}`, name: "now", args: { index } },
  }));
  const data = JSON.stringify({ candidates: [{ content: { parts: [...parts, ...rest, ...whole] }, finishReason: "STOP" }] });
  try {
    const [event] = google.streamDecoder()(data);
    if (event?.kind !== "delta") throw new Error("It is no delta");
    expect(event.delta["tool_calls"]).toHaveLength(2 * calls);
    expect(event.delta["tool_calls"]).toMatchObject({ 7: { index: 7, function: { name: "now", arguments: '{"index":7}' } } });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(searched).toBeLessThan(20 * calls);
});

test("a model's name that is too long for one is repeated in no call", () => {
  const part = { functionCall: { id: "c", name: "f", args: { a: 1 } }, thoughtSignature: "c2ln" };
  const idWith = (modelVersion: string): unknown => {
    const [event] = google.streamDecoder()(JSON.stringify({ modelVersion, candidates: [{ content: { parts: [part] } }] }));
    return event?.kind === "delta" && event.delta["tool_calls"];
  };
  expect(idWith("gemini-3-pro")).toMatchObject([{ id: "c.sig.gemini-3-pro.c2ln" }]);
  expect(idWith("g".repeat(100_000))).toMatchObject([{ id: "c" }]);
});
