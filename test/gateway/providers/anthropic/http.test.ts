import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { callStream, callWhole, failureOf, readAll, testKey } from "../../../support/providers/call.ts";
import { event, failingStream, message, messageEvents, refusal } from "../../../support/providers/anthropic-answers.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { json, rawStream } from "../../../support/providers/stub-answers.ts";

let provider: ProviderStub;
let route: Route;

beforeAll(async () => {
  provider = await startProviderStub();
  route = aRoute({ format: "anthropic", base_url: provider.url });
});
beforeEach(() => provider.answer(message("Hello there")));
afterAll(() => provider[Symbol.asyncDispose]());

/** The stub's reply to the last call, and the call. */
async function lastCall() {
  return provider.called(provider.calls.length);
}

describe("over HTTP", () => {
  test("a call carries our key in the API's header and does not ask for compression", async () => {
    await callWhole({ route });
    const { path, headers } = await lastCall();
    expect(path).toBe("/v1/messages");
    expect(headers).toMatchObject({
      "x-api-key": testKey,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "accept-encoding": "identity",
    });
    expect(headers).not.toContainKey("authorization");
  });

  test("a whole answer arrives with its token counts", async () => {
    const answer = await callWhole({ route });
    expect(answer).toMatchObject({ message: { content: "Hello there" }, finishReason: "stop" });
    expect(answer.usage).toMatchObject({ promptTokens: 10, completionTokens: 5 });
  });

  test("a stream arrives piece by piece", async () => {
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello there", finishReasons: ["stop"], last: "end" });
    expect((await lastCall()).streamed).toBe(true);
  });

  test("overload is upstream_error, a rate limit upstream_rate_limited, a bad key upstream_auth", async () => {
    provider.answerOnce(refusal(529, "overloaded_error"), refusal(429, "rate_limit_error"), refusal(401, "authentication_error"));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    expect((await failureOf(callStream({ route }))).code).toBe("upstream_rate_limited");
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_auth");
  });

  test("an error with status 200 is an error, for whole answers and for streams", async () => {
    const overloaded = json({ type: "error", error: { type: "overloaded_error", message: "x" } });
    provider.answerOnce(overloaded, overloaded);
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    expect((await readAll(await callStream({ route }))).failure?.code).toBe("upstream_error");
  });
});

describe("a stream over HTTP", () => {
  test("whose first event is an error is a failure with nothing before it", async () => {
    provider.answer(failingStream("overloaded_error"));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "", usage: null, failure: { code: "upstream_error" } });
  });

  test("that fails midway keeps its prompt count and ignores the placeholder", async () => {
    provider.answer(failingStream("api_error", { pieces: ["Hel"] }));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hel", failure: { code: "upstream_error" } });
    expect(transcript.usage).toMatchObject({ promptTokens: 10, completionTokens: null });
  });

  const events = messageEvents("Hello there").map(event);

  test("that ends after its stop reason without an end event ended well", async () => {
    provider.answer(rawStream(...events.slice(0, -1)));
    expect(await readAll(await callStream({ route }))).toMatchObject({ text: "Hello there", failure: null, last: "end" });
  });

  test("that ends before its stop reason broke off", async () => {
    provider.answer(rawStream(...events.slice(0, -2)));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello there", finishReasons: [], failure: { code: "upstream_error" } });
  });

  test("without its first event delivers the whole answer, and the reported half of its counts", async () => {
    provider.answer(rawStream(...events.slice(1)));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello there", finishReasons: ["stop"], last: "end" });
    expect(transcript.usage).toMatchObject({ promptTokens: null, completionTokens: 5 });
  });
});
