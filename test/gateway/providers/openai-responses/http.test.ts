import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Route } from "../../../../src/gateway/models/model.ts";
import { callStream, callWhole, failureOf, readAll, testKey } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { event, refusal, response, responseEvents } from "../../../support/providers/responses-answers.ts";
import { json, ManualStream, rawStream } from "../../../support/providers/stub-answers.ts";

let provider: ProviderStub;
let route: Route;

beforeAll(async () => {
  provider = await startProviderStub();
  route = aRoute({ format: "openai-responses", base_url: provider.url });
});
beforeEach(() => provider.answer(response("Hello there")));
afterAll(() => provider[Symbol.asyncDispose]());

const failed = (code: string) => ({
  type: "response.failed",
  response: { status: "failed", error: { code, message: "x" }, output: [] },
});

describe("over HTTP", () => {
  test("a call carries our key, and a whole answer arrives with its token counts", async () => {
    const answer = await callWhole({ route });
    expect(answer).toMatchObject({ message: { content: "Hello there" }, finishReason: "stop" });
    expect(answer.usage).toMatchObject({ promptTokens: 10, completionTokens: 5 });
    const { path, headers, streamed } = await provider.called(provider.calls.length);
    expect({ path, streamed }).toEqual({ path: "/v1/responses", streamed: false });
    expect(headers).toMatchObject({ authorization: `Bearer ${testKey}`, "accept-encoding": "identity" });
  });

  test("a refused bound on output is the request's fault, an overload the provider's, a wrong key ours", async () => {
    expect((await failureOf(callWhole({ route, maxOutputTokens: 15 }))).code).toBe("upstream_rejected");
    const rateLimit = { type: "tokens", code: "rate_limit_exceeded" };
    provider.answerOnce(
      refusal(503, { code: "server_is_overloaded" }),
      refusal(429, rateLimit),
      refusal(401, { code: "invalid_api_key" }),
    );
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    expect((await failureOf(callStream({ route }))).code).toBe("upstream_rate_limited");
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_auth");
  });

  test("a response that failed with status 200 is an error, whole and streamed", async () => {
    provider.answerOnce(json(failed("server_error").response), rawStream(event(failed("rate_limit_exceeded"))));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "", usage: null, failure: { code: "upstream_rate_limited" } });
  });
});

describe("a stream over HTTP", () => {
  const events = responseEvents("Hello there").map(event);

  test("arrives piece by piece, and is the same for every split of its bytes", async () => {
    const whole = await readAll(await callStream({ route }));
    expect(whole).toMatchObject({ text: "Hello there", finishReasons: ["stop"], failure: null, last: "end" });
    provider.answer(rawStream(...Array.from(new TextEncoder().encode(events.join("")), (byte) => Uint8Array.of(byte))));
    expect(await readAll(await callStream({ route }))).toEqual(whole);
  });

  test("ends with its response, although its connection stays open", async () => {
    const stream = new ManualStream();
    provider.answer(stream.answer);
    const reading = callStream({ route }).then(readAll);
    await stream.write(events.join(""));
    expect(await reading).toMatchObject({ text: "Hello there", finishReasons: ["stop"], last: "end" });
  });

  test.each(["between two events", "within an event"])("that ends %s broke off", async (where) => {
    const sent = events.slice(0, -1).join("");
    provider.answer(rawStream(where === "between two events" ? sent : sent + (events.at(-1) ?? "").slice(0, 60)));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({
      text: "Hello there",
      finishReasons: [],
      usage: null,
      failure: { code: "upstream_error" },
    });
  });

  test("that fails midway keeps what arrived", async () => {
    provider.answer(rawStream(...events.slice(0, 4), event(failed("server_error"))));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello ", finishReasons: [], failure: { code: "upstream_error" } });
  });
});
