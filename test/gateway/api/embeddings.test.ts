/** POST /embeddings of a running service, with a provider stub behind it. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { embeddingTokensMax } from "../../../src/gateway/limits.ts";
import { openEmbeddingStage, type EmbeddingStage } from "../../support/gateway/embedding-stage.ts";
import { base64Of, embeddings, vectorAt } from "../../support/providers/embedding-answers.ts";

let on: EmbeddingStage;
beforeAll(async () => {
  on = await openEmbeddingStage();
}, 60_000);
beforeEach(() => on.reset());

describe("an answer", () => {
  test("has a vector for each input in its order, as numbers, with the charged usage", async () => {
    expect(await on.embed({ input: ["one", "two"] })).toEqual({
      status: 200,
      object: "list",
      data: [0, 1].map((index) => ({ object: "embedding", index, embedding: vectorAt(index) })),
      model: "stub/embed",
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
  });

  test("has little-endian 32-bit floats where base64 is asked for", async () => {
    const vector = [0.1, -0.2, 0.3, 1];
    on.provider.answer(embeddings({ change: (data) => data.map((item) => ({ ...item, embedding: base64Of(vector) })) }));
    const answer = await on.embed({ input: "one", encoding_format: "base64" });
    expect(answer.data[0]?.embedding).toBe("zczMPc3MTL6amZk+AACAPw==");
    expect((await on.embed({ input: "one" })).data[0]?.embedding).toEqual(vector);
  });

  test("carries the headers of a generation and of the key's window", async () => {
    const { headers } = await on.post({ model: "stub/embed", input: "one" });
    expect(headers.get("x-generation-id")).toMatch(/^gen-[a-z2-7]{26}$/);
    expect(headers.get("x-request-id")).toMatch(/^req-/);
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("9999");
    expect(headers.get("content-type")).toStartWith("application/json");
  });

  test("is whole when it is written in pieces, in both forms", async () => {
    const input = Array.from({ length: 2_048 }, (_, index) => `text ${index}`);
    const dimensions = 256;
    for (const encoding_format of ["float", "base64"]) {
      const { data, status } = await on.embed({ model: "stub/long", input, encoding_format, dimensions });
      expect(status).toBe(200);
      expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
      const last = vectorAt(2_047, dimensions);
      expect(data.at(-1)?.embedding).toEqual(encoding_format === "float" ? last : base64Of(last));
    }
  });

  test("is asked of the provider as base64, with the requested dimensions and without our labels", async () => {
    await on.embed({ input: "one", dimensions: 2, user: "someone" });
    expect(on.provider.calls.at(-1)).toMatchObject({
      path: "/v1/embeddings",
      body: { model: "stub-embed", input: ["one"], dimensions: 2, encoding_format: "base64" },
    });
    expect(on.provider.calls.at(-1)?.body).not.toHaveProperty("user");
  });

  test("token ids are sent as they are", async () => {
    expect((await on.embed({ input: [[1, 2], [3]] })).status).toBe(200);
    expect(on.provider.calls.at(-1)?.body["input"]).toEqual([[1, 2], [3]]);
    await on.embed({ input: [4, 5] });
    expect(on.provider.calls.at(-1)?.body["input"]).toEqual([[4, 5]]);
  });
});

describe("money", () => {
  test("each input's bytes and 16 are reserved, at most its context, and the provider's count is charged", async () => {
    await on.embed({ input: ["Hello", "World!", "x".repeat(1_000)] });
    expect(await on.settled()).toMatchObject({
      endpoint: "embeddings",
      model: "stub/embed",
      streamed: false,
      prompt_tokens: 9,
      completion_tokens: 0,
      // 5 + 16 and 6 + 16 bytes, and the context of 100: each 1,000 nano-USD.
      reserved_usd: "0.000143000",
      cost_usd: "0.000009000",
      usage_estimated: false,
    });
  });

  test.each([
    ["no count", null],
    ["a count of zero", { prompt_tokens: 0, total_tokens: 0 }],
    ["an absurd count", { prompt_tokens: 999_999_999 }],
    ["a negative count", { prompt_tokens: -5 }],
    ["a count that is no number", { prompt_tokens: "7" }],
  ])("%s is estimated from the texts, and the log says so", async (_, usage) => {
    on.provider.answer(embeddings({ usage }));
    expect((await on.embed({ input: ["Hello", "12345"] })).usage.prompt_tokens).toBe(3);
    expect(await on.settled()).toMatchObject({ prompt_tokens: 3, cost_usd: "0.000003000", usage_estimated: true });
  });

  test("token ids are counted exactly where the provider counts nothing", async () => {
    on.provider.answer(embeddings({ usage: null }));
    expect((await on.embed({ input: [[1, 2, 3], [4]] })).usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
    expect(await on.settled()).toMatchObject({ reserved_usd: "0.000004000", cost_usd: "0.000004000", usage_estimated: true });
  });

  test("a count above the reservation is charged as far as the reservation goes", async () => {
    on.provider.answer(embeddings({ usage: { prompt_tokens: 90 } }));
    await on.embed({ input: "Hello" });
    expect(await on.settled()).toMatchObject({ reserved_usd: "0.000021000", cost_usd: "0.000021000" });
  });

  test("a request beyond the credit is refused before the provider is called", async () => {
    await on.reset("0.000020");
    const calls = on.provider.calls.length;
    const answer = await on.embed({ input: "Hello" });
    expect([answer.status, answer.error?.code]).toEqual([402, "insufficient_credit"]);
    expect(answer.error?.message).toContain("send less");
    expect(on.provider.calls.length).toBe(calls);
  });

  test("a client that leaves is charged what the provider counts, as the call is read to its end", async () => {
    on.provider.hold();
    const leaving = new AbortController();
    const calls = on.provider.calls.length;
    const request = on.post({ model: "stub/embed", input: "Hello" }, { signal: leaving.signal }).catch(() => null);
    await on.provider.called(calls + 1);
    leaving.abort();
    await request;
    on.provider.release();
    expect(await on.settled()).toMatchObject({ prompt_tokens: 3, cost_usd: "0.000003000", usage_estimated: false });
  });
});

describe("the order of checks", () => {
  test("with it: the body, its fields, the model, then the credit", async () => {
    expect((await on.post("{broken")).status).toBe(400);
    expect((await on.post(`{"model":"stub/embed","input":"${"x".repeat(8 * 1024 * 1024)}"}`)).status).toBe(413);
    expect(await on.embed({ model: "acme/none", input: "" })).toMatchObject({ status: 400, error: { param: "input" } });
    expect(await on.embed({ model: "acme/none", input: "a" })).toMatchObject({ status: 404, error: { code: "model_not_found" } });
  });

  test("a model of the other kind is refused with 400 at both endpoints", async () => {
    const kind = { status: 400, error: { code: "invalid_request", param: "model" } };
    expect(await on.embed({ model: "stub/model", input: "a" })).toMatchObject(kind);
    const chat = await fetch(`${on.fleet.url()}/gpt/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${on.customer.keys[0]?.key}` },
      body: JSON.stringify({ model: "stub/embed", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect({ status: chat.status, body: await chat.json() }).toMatchObject({ status: 400, body: { error: kind.error } });
  });

  test("a full batch of token ids is not refused by the scan of the body, and one token more is", async () => {
    const rows = Array.from({ length: 100 }, () => Array.from({ length: embeddingTokensMax / 100 }, (_, id) => id));
    expect((await on.embed({ model: "stub/long", input: rows })).status).toBe(200);
    const over = await on.embed({ model: "stub/long", input: [...rows, [1]] });
    expect([over.status, over.error?.code, over.error?.param]).toEqual([400, "invalid_request", "input"]);
  });
});

test("GET /models shows kind, dimensions and inputs, and that it can be called with the feature alone", async () => {
  const off = await on.fleet.operator().customer({ credit: "1" });
  const model = async (key = "") =>
    (await fetch(`${on.fleet.url()}/gpt/v1/models/stub/embed`, { headers: { authorization: `Bearer ${key}` } })).json();
  expect(await model(on.customer.keys[0]?.key)).toMatchObject({
    kind: "embeddings",
    dimensions: { default: 4, allowed: { min: 2, max: 4 } },
    max_inputs: 16,
    max_output_tokens: null,
    prices_per_1m_usd: { input: "1.00", output: "0.00" },
    availability: "available",
    runnable: true,
  });
  expect(await model(off.keys[0]?.key)).toMatchObject({
    availability: "request_access",
    runnable: false,
    unavailable_reason: "request_access",
  });
});
