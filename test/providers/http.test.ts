import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { upstreamAnswerBytesMax } from "../../src/limits/constants.ts";
import { callProvider } from "../../src/providers/http.ts";
import {
  aContext,
  aReservation,
  callAnything,
  callStream,
  callWhole,
  failureOf,
  readAll,
  testGeneration,
  testKey,
} from "../support/call.ts";
import { aRoute } from "../support/models.ts";
import { startProviderStub } from "../support/provider-stub.ts";
import {
  chat,
  chunk,
  completion,
  empty,
  error,
  gzip,
  hang,
  htmlPage,
  json,
  ManualStream,
  rawStream,
  redirect,
  silent,
  stream,
  text,
  usageOf,
} from "../support/stub-answers.ts";

let provider = await startProviderStub();
let route = aRoute({ base_url: provider.url });
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
  route = aRoute({ base_url: provider.url });
});
afterAll(() => provider[Symbol.asyncDispose]());

const usage = { promptTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 2, reasoningTokens: 0 };

describe("what a provider receives", () => {
  test("our key, the generation's id, the bound, and no compression asked for", async () => {
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

  test("max_completion_tokens where the catalog says that the provider wants it so", async () => {
    await callWhole({
      route: aRoute({ base_url: provider.url }, { max_tokens_field: "max_completion_tokens" }),
      chat: { max_tokens: 5 },
    });
    expect(provider.calls[0]?.body).toMatchObject({ max_completion_tokens: 100 });
    expect(provider.calls[0]?.body).not.toHaveProperty("max_tokens");
  });

  test("a wish for usage on every stream, whatever the client asked for", async () => {
    await readAll(await callStream({ route, chat: { stream: true, stream_options: { include_usage: false } } }));
    expect(provider.calls[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("no label of the client's, and no store", async () => {
    await callWhole({
      route,
      chat: { user: "u", metadata: { a: "b" }, store: false, safety_identifier: "s", prompt_cache_key: "p", n: 1 },
    });
    expect(Object.keys(provider.calls[0]?.body ?? {}).toSorted()).toEqual(["max_tokens", "messages", "model"]);
  });

  test("no authorization where it takes no key", async () => {
    await callWhole({ route: aRoute({ base_url: provider.url, key_env: null }) });
    expect(provider.calls[0]?.headers).not.toHaveProperty("authorization");
  });

  test("nothing at all where our key is missing: upstream_auth", async () => {
    const failure = await failureOf(callWhole({ route, context: { providerKey: () => null } }));
    expect(failure.code).toBe("upstream_auth");
    expect(provider.calls).toHaveLength(0);
  });
});

describe("a reservation is the ticket", () => {
  const call = { generation: testGeneration, route, chat: { model: "m", messages: [] }, streamed: false };

  test("a call for more output than was reserved is never made", async () => {
    await expect(callProvider(aReservation(10), { ...call, route, maxOutputTokens: 11 }, aContext())).rejects.toThrow(RangeError);
    expect(provider.calls).toHaveLength(0);
  });

  test("nor is one on another generation's reservation", async () => {
    const other = { ...call, route, generation: "gen-other", maxOutputTokens: 1 };
    await expect(callProvider(aReservation(), other, aContext())).rejects.toThrow(RangeError);
    expect(provider.calls).toHaveLength(0);
  });
});

describe("a whole answer", () => {
  test("is decoded with its usage", async () => {
    provider.answer(chat("Hello there"));
    expect(await callWhole({ route })).toMatchObject({
      message: { role: "assistant", content: "Hello there", refusal: null },
      finishReason: "stop",
      usage,
    });
  });

  const unusable: [string, Parameters<typeof provider.answer>[0]][] = [
    ["is empty", empty],
    ["is a page", htmlPage],
    ["is cut off", text('{"id":"chatcmpl', { type: "application/json" })],
    ["is an error with status 200", json({ error: { message: "no", code: null } })],
    ["holds no choice", json({ choices: [] })],
    ["is a redirect", redirect("http://127.0.0.1:1/elsewhere")],
    ["has another status of success", json(completion({ role: "assistant", content: "x" }), 202)],
    [
      "breaks off",
      (response, call) => {
        call.state = "broken";
        response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
        response.write('{"id":', () => response.socket?.destroy());
      },
    ],
  ];
  test.each(unusable)("that %s is upstream_error", async (_, answer) => {
    provider.answer(answer);
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
  });

  test("follows no redirect: our key goes nowhere else", async () => {
    await using elsewhere = await startProviderStub();
    provider.answer(redirect(elsewhere.url));
    await failureOf(callWhole({ route }));
    expect(elsewhere.calls).toHaveLength(0);
  });

  test("that is compressed in spite of our wish is read all the same", async () => {
    provider.answer(gzip(JSON.stringify({ ...completion({ role: "assistant", content: "zip" }), usage: usageOf(10, 2) })));
    expect((await callWhole({ route })).message.content).toBe("zip");
  });

  test("that unpacks to more than the bound is given up", async () => {
    provider.answer(gzip(Buffer.alloc(upstreamAnswerBytesMax + 1, " ")));
    const failure = await failureOf(callWhole({ route }));
    expect(failure.message).toContain("larger than");
    expect(gzipSync(Buffer.alloc(upstreamAnswerBytesMax, " ")).length).toBeLessThan(100_000);
  });

  test("that never ends in size is given up and its connection closed", async () => {
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

describe("an error is classified by its body before its status", () => {
  const errors: [number, string | null, string][] = [
    [400, null, "upstream_rejected"],
    [400, "invalid_api_key", "upstream_auth"],
    [401, null, "upstream_auth"],
    [404, null, "upstream_rejected"],
    [422, null, "upstream_rejected"],
    [429, null, "upstream_rate_limited"],
    [429, "insufficient_quota", "upstream_auth"],
    [500, null, "upstream_error"],
    [529, "overloaded_error", "upstream_error"],
  ];
  for (const streamed of [false, true]) {
    test.each(errors)(`%p %p is %p (streamed: ${streamed})`, async (status, code, ours) => {
      provider.answer(error(status, code));
      expect((await failureOf(callAnything(streamed, { route }))).code as string).toBe(ours);
    });
  }

  test("a huge error page is read as far as it is of use", async () => {
    provider.answer(text("x".repeat(5_000_000), { status: 503, type: "text/html" }));
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
  });

  test("a context overflow says so in our own words, which agents know to look for", async () => {
    provider.answer(error(400, "context_length_exceeded", "the provider's own words"));
    const failure = await failureOf(callWhole({ route }));
    expect(failure.hint).toContain("maximum context length");
    expect(`${failure.message} ${failure.hint}`).not.toContain("the provider's own words");
  });

  test("a provider that cannot be reached is upstream_error", async () => {
    await provider[Symbol.asyncDispose]();
    expect((await failureOf(callWhole({ route }))).code).toBe("upstream_error");
    provider = await startProviderStub();
  });

  test("a host name that does not exist is upstream_error", async () => {
    const failure = await failureOf(callWhole({ route: aRoute({ base_url: "http://does-not-exist.invalid/v1" }) }));
    expect(failure.code).toBe("upstream_error");
  });

  test("a format that is not spoken is upstream_error", async () => {
    const failure = await failureOf(callWhole({ route: aRoute({ base_url: provider.url, format: "google" }) }));
    expect(failure.code).toBe("upstream_error");
  });
});

describe("a stream", () => {
  test("is text, finish, usage and end", async () => {
    provider.answer(chat("Hello there"));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript).toMatchObject({ text: "Hello there", finishReasons: ["stop"], usage, failure: null, last: "end" });
  });

  test("is the same however its bytes are cut", async () => {
    const body = [chunk({ role: "assistant", content: "é😀" }), chunk({}, "stop")]
      .map((one) => `data:${JSON.stringify(one)}\r\n\r\n`)
      .join("");
    const bytes = new TextEncoder().encode(`${body}: comment\r\n\r\ndata: [DONE]\r\n\r\n`);
    provider.answer(rawStream(...Array.from(bytes, (byte) => Uint8Array.of(byte))));
    expect(await readAll(await callStream({ route }))).toMatchObject({ text: "é😀", last: "end" });
  });

  test("without [DONE] ends well where a reason for its end was told", async () => {
    provider.answer(stream([chunk({ content: "Hi" }), chunk({}, "stop")], { end: "no done" }));
    expect(await readAll(await callStream({ route }))).toMatchObject({ text: "Hi", failure: null, last: "end" });
  });

  test("that ends without a reason and without [DONE] broke off", async () => {
    provider.answer(stream([chunk({ content: "Hi" })], { end: "no done" }));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript.text).toBe("Hi");
    expect(transcript.failure).toMatchObject({ code: "upstream_error", message: "the stream broke off" });
  });

  test("whose connection breaks is upstream_error after what was received", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("Hi");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "Hi" } });
    await manual.break();
    const transcript = await readAll(events);
    expect(transcript.failure?.code).toBe("upstream_error");
  });

  const noStreams: [string, Parameters<typeof provider.answer>[0]][] = [
    ["an error with status 200", json({ error: { message: "no", code: null } })],
    ["a page", htmlPage],
    ["a whole answer", json(completion({ role: "assistant", content: "x" }))],
  ];
  test.each(noStreams)("that turns out to be %s fails before its first event", async (_, answer) => {
    provider.answer(answer);
    expect((await failureOf(callStream({ route }))).code).toBe("upstream_error");
  });

  test("that is empty is upstream_error", async () => {
    provider.answer(rawStream());
    expect((await readAll(await callStream({ route }))).failure?.code).toBe("upstream_error");
  });

  test("with an event beyond every measure is upstream_error, and its connection is closed", async () => {
    provider.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: ");
      const more = () => void (response.destroyed || response.write("x".repeat(1_000_000), more));
      more();
    });
    expect((await readAll(await callStream({ route }))).failure?.code).toBe("upstream_error");
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("hands out an event as soon as it is there", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("one");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "one" } });
    await manual.piece("two");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "two" } });
    await manual.finish();
    expect((await readAll(events)).last).toBe("end");
  });

  test("cancelled, closes its connection and tells nothing more", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("one");
    await events.next();
    await events.cancel();
    expect(await events.next()).toBeNull();
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("cancelled while an event is awaited, ends that wait", async () => {
    provider.answer(silent);
    const events = await callStream({ route });
    const waiting = events.next();
    await events.cancel();
    expect(await waiting).toBeNull();
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("leaves its connection to the next call", async () => {
    const ports: (number | undefined)[] = [];
    provider.answer((response, call) => {
      ports.push(response.socket?.remotePort);
      return chat("Hello there", { gapMs: 1 })(response, call);
    });
    for (let call = 0; call < 3; call++) {
      await readAll(await callStream({ route }));
      await provider.ended(call + 1);
    }
    expect(new Set(ports).size).toBe(1);
  });

  test("that stays open after [DONE] is over for us, and is closed", async () => {
    provider.answer(async (response, call) => {
      await stream([chunk({ content: "Hi" }), chunk({}, "stop")], { end: "open" })(response, call);
      response.write("data: [DONE]\n\n");
    });
    expect((await readAll(await callStream({ route }))).last).toBe("end");
    expect((await provider.ended()).state).toBe("cancelled");
  });
});

describe("a call that is given up", () => {
  test("ends before its answer, and the provider sees the connection close", async () => {
    provider.answer(hang);
    const controller = new AbortController();
    const call = failureOf(callWhole({ route, context: { signal: controller.signal } }));
    await provider.called();
    controller.abort();
    expect((await call).code).toBe("upstream_error");
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("given up before it was made, is never made", async () => {
    const failure = await failureOf(callWhole({ route, context: { signal: AbortSignal.abort() } }));
    expect(failure.code).toBe("upstream_error");
    expect(provider.calls).toHaveLength(0);
  });

  test("an open stream outlives the signal, and is ended by its own cancel", async () => {
    const controller = new AbortController();
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route, context: { signal: controller.signal } });
    controller.abort();
    await manual.piece("still here");
    await manual.finish();
    expect(await readAll(events)).toMatchObject({ text: "still here", last: "end" });
  });
});
