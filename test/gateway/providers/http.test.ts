import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { upstreamAnswerBytesMax } from "../../../src/gateway/limits.ts";
import { callProvider } from "../../../src/gateway/providers/http.ts";
import {
  aContext,
  aReservation,
  callStream,
  callWhole,
  failureOf,
  readAll,
  testGeneration,
  testKey,
} from "../../support/providers/call.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { completion, gzip, json, redirect, text, usageOf } from "../../support/providers/stub-answers.ts";

let provider = await startProviderStub();
let route = aRoute({ base_url: provider.url });
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
  route = aRoute({ base_url: provider.url });
});
afterAll(() => provider[Symbol.asyncDispose]());

describe("what a provider receives", () => {
  test("is our key, the generation's id and the output bound, without asking for compression", async () => {
    await callWhole({ route, maxOutputTokens: 77 });
    const [call] = provider.calls;
    expect(call?.path).toBe("/v1/chat/completions");
    expect(call?.headers).toMatchObject({
      authorization: `Bearer ${testKey}`,
      "accept-encoding": "identity",
      "content-type": "application/json",
      "user-agent": "weir",
    });
    expect(call?.generation).toBe(testGeneration);
    expect(call?.body).toEqual({ model: "stub-model", messages: [{ role: "user", content: "Hello" }], max_tokens: 77 });
  });

  test("is max_completion_tokens if the catalog names that field", async () => {
    await callWhole({
      route: aRoute({ base_url: provider.url }, { max_tokens_field: "max_completion_tokens" }),
      chat: { max_tokens: 5 },
    });
    expect(provider.calls[0]?.body).toMatchObject({ max_completion_tokens: 100 });
    expect(provider.calls[0]?.body).not.toHaveProperty("max_tokens");
  });

  test("is a request for usage on every stream, even if the client did not ask for it", async () => {
    await readAll(await callStream({ route, chat: { stream: true, stream_options: { include_usage: false } } }));
    expect(provider.calls[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("is no request for usage if the provider refuses it and reports usage anyway", async () => {
    await readAll(await callStream({ route: aRoute({ base_url: provider.url, stream_options: false }) }));
    expect(provider.calls[0]?.body).toMatchObject({ stream: true });
    expect(provider.calls[0]?.body).not.toHaveProperty("stream_options");
  });

  test("is neither the client's labels nor store", async () => {
    await callWhole({
      route,
      chat: { user: "u", metadata: { a: "b" }, store: false, safety_identifier: "s", prompt_cache_key: "p", n: 1 },
    });
    expect(Object.keys(provider.calls[0]?.body ?? {}).toSorted()).toEqual(["max_tokens", "messages", "model"]);
  });

  test("is no authorization if it needs no key", async () => {
    await callWhole({ route: aRoute({ base_url: provider.url, key_env: null }) });
    expect(provider.calls[0]?.headers).not.toHaveProperty("authorization");
  });

  test("is nothing if our key is missing: upstream_auth", async () => {
    const failure = await failureOf(callWhole({ route, context: { providerKey: () => null } }));
    expect(failure.code).toBe("upstream_auth");
    expect(provider.calls).toHaveLength(0);
  });
});

describe("a call needs a reservation", () => {
  const call = { generation: testGeneration, route, chat: { model: "m", messages: [] }, streamed: false };

  test("a call for more output than was reserved is not sent", async () => {
    await expect(callProvider(aReservation(10), { ...call, route, maxOutputTokens: 11 }, aContext())).rejects.toThrow(RangeError);
    expect(provider.calls).toHaveLength(0);
  });

  test("a call with another generation's reservation is not sent", async () => {
    const other = { ...call, route, generation: "gen-other", maxOutputTokens: 1 };
    await expect(callProvider(aReservation(), other, aContext())).rejects.toThrow(RangeError);
    expect(provider.calls).toHaveLength(0);
  });
});

describe("a whole answer", () => {
  test("that has another status of success is upstream_error", async () => {
    provider.answer(json(completion({ role: "assistant", content: "x" }), 202));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
  });

  test("follows no redirect, so that our key reaches no other host", async () => {
    await using elsewhere = await startProviderStub();
    provider.answer(redirect(elsewhere.url));
    await failureOf(callWhole({ route }));
    expect(elsewhere.calls).toHaveLength(0);
  });

  test("that is compressed against our request is read correctly", async () => {
    provider.answer(gzip(JSON.stringify({ ...completion({ role: "assistant", content: "zip" }), usage: usageOf(10, 2) })));
    expect((await callWhole({ route })).message.content).toBe("zip");
  });

  test("that is an error page without end is read only up to its bound", async () => {
    provider.answer(text("x".repeat(5_000_000), { status: 503, type: "text/html" }));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
  });

  test("that decompresses to more than the bound is aborted", async () => {
    provider.answer(gzip(Buffer.alloc(upstreamAnswerBytesMax + 1, " ")));
    const failure = await failureOf(callWhole({ route }));
    expect(failure.message).toContain("larger than");
    expect(gzipSync(Buffer.alloc(upstreamAnswerBytesMax, " ")).length).toBeLessThan(100_000);
  });

  test("that grows beyond the bound is aborted and its connection closed", async () => {
    const block = Buffer.alloc(1024 * 1024, " ");
    provider.answer((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => void (response.destroyed || response.write(block, more));
      more();
    });
    expect((await failureOf(callWhole({ route }))).message).toContain("larger than");
    expect((await provider.ended()).state).toBe("cancelled");
  });
});
