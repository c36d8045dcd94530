/** The five wire formats of embeddings, over HTTP to a stub. */
import { afterAll, describe, expect, test } from "bun:test";
import { embeddingAnswerBytesMax } from "../../../src/gateway/limits.ts";
import type { EmbeddingFormatName } from "../../../src/gateway/models/model.ts";
import { embeddingCalls } from "../../../src/gateway/providers/embed.ts";
import type { EmbeddingAnswer, EmbeddingCall } from "../../../src/gateway/providers/embedding.ts";
import { aContext, aReservation, failureOf, testGeneration, testKey } from "../../support/providers/call.ts";
import { base64Of, embeddingModel } from "../../support/providers/embedding-answers.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { error, json, text } from "../../support/providers/stub-answers.ts";

const provider = await startProviderStub();
afterAll(() => provider[Symbol.asyncDispose]());

const vectors = [
  [3, 4],
  [0.5, -0.25],
];

function call(format: EmbeddingFormatName, change: Partial<EmbeddingCall> = {}): Promise<EmbeddingAnswer> {
  // Chat has another address, as Cohere's does.
  const embeddings = { format, base_url: provider.url };
  const chatFormat = format === "google" ? ("google" as const) : ("openai" as const);
  const route = aRoute({ base_url: "http://127.0.0.1:9/chat", format: chatFormat, embeddings }, embeddingModel());
  return embeddingCalls(aContext())(aReservation(), {
    generation: testGeneration,
    route,
    inputs: { kind: "texts", texts: ["one", "two"] },
    dimensions: null,
    inputType: null,
    dimensionsExpected: 2,
    normalize: false,
    ...change,
  });
}

const openai = (embedding: (vector: number[]) => unknown, usage: unknown) =>
  json({
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: embedding(vector) })),
    usage,
  });

const formats: {
  format: EmbeddingFormatName;
  path: string;
  body: unknown;
  dimensioned: unknown;
  answer: ReturnType<typeof json>;
}[] = [
  {
    format: "openai",
    path: "/v1/embeddings",
    body: { model: "stub-embed", input: ["one", "two"], encoding_format: "base64" },
    dimensioned: { dimensions: 2, input_type: "query" },
    answer: openai(base64Of, { prompt_tokens: 6, total_tokens: 6 }),
  },
  {
    format: "mistral",
    path: "/v1/embeddings",
    body: { model: "stub-embed", input: ["one", "two"], encoding_format: "float" },
    dimensioned: { output_dimension: 2, input_type: "query" },
    answer: openai((vector) => vector, { prompt_tokens: 6, total_tokens: 6 }),
  },
  {
    format: "voyage",
    path: "/v1/embeddings",
    body: { model: "stub-embed", input: ["one", "two"], input_type: "document", truncation: false },
    dimensioned: { output_dimension: 2, input_type: "query" },
    answer: openai((vector) => vector, { total_tokens: 6 }),
  },
  {
    format: "cohere",
    path: "/v1/v2/embed",
    body: {
      model: "stub-embed",
      texts: ["one", "two"],
      input_type: "search_document",
      embedding_types: ["float"],
      truncate: "NONE",
    },
    dimensioned: { output_dimension: 2, input_type: "search_query" },
    answer: json({ id: "1", embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 6 } } }),
  },
  {
    format: "google",
    path: "/v1/models/stub-embed:batchEmbedContents",
    body: { requests: ["one", "two"].map((one) => ({ model: "models/stub-embed", content: { parts: [{ text: one }] } })) },
    dimensioned: {
      requests: ["one", "two"].map((one) => ({
        model: "models/stub-embed",
        content: { parts: [{ text: one }] },
        outputDimensionality: 2,
      })),
    },
    answer: json({ embeddings: vectors.map((values) => ({ values })), usageMetadata: { promptTokenCount: 6 } }),
  },
];

describe.each(formats)("$format", ({ format, path, body, dimensioned, answer }) => {
  test("gets the inputs in its own form, with our key and nothing else", async () => {
    provider.answer(answer);
    await call(format);
    const sent = provider.calls.at(-1);
    expect([sent?.path, sent?.body]).toEqual([path, body as Record<string, unknown>]);
    expect(sent?.headers[format === "google" ? "x-goog-api-key" : "authorization"]).toEndWith(testKey);
  });

  test("gets the requested dimensions and type of input under its own names", async () => {
    provider.answer(answer);
    await call(format, { dimensions: 2, inputType: "query" });
    expect(provider.calls.at(-1)?.body).toMatchObject(dimensioned as object);
  });

  test("its vectors and its count are read", async () => {
    provider.answer(answer);
    const read = await call(format);
    expect(read.vectors.map((vector) => [...vector])).toEqual(vectors);
    expect(read.promptTokens).toBe(6);
  });

  test("its vectors are scaled to length 1 where the catalog says that the provider does not", async () => {
    provider.answer(answer);
    const [vector] = (await call(format, { normalize: true })).vectors;
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 6);
    expect(vector?.[0]).toBeCloseTo(0.6, 6);
  });

  test("an answer of another length, an empty one and one that is no JSON are failures of the provider", async () => {
    provider.answer(answer);
    expect((await failureOf(call(format, { dimensionsExpected: 3 }))).code).toBe("upstream_error");
    for (const broken of [json({}), json([]), json(null), text("<html>"), text("")]) {
      provider.answer(broken);
      expect((await failureOf(call(format))).code).toBe("upstream_error");
    }
  });

  test("its refusals are told apart", async () => {
    provider.answer(error(400));
    expect((await failureOf(call(format))).code).toBe("upstream_rejected");
    provider.answer(error(429));
    expect((await failureOf(call(format))).code).toBe("upstream_rate_limited");
    provider.answer(error(401));
    expect((await failureOf(call(format))).code).toBe("upstream_auth");
  });
});

test("an answer beyond 40 MiB is not read to its end", async () => {
  provider.answer(text(" ".repeat(embeddingAnswerBytesMax + 1), { type: "application/json" }));
  expect((await failureOf(call("openai"))).message).toContain("larger than");
});

test("Google's answer without a count has none", async () => {
  provider.answer(json({ embeddings: vectors.map((values) => ({ values })) }));
  expect((await call("google")).promptTokens).toBeNull();
});

test("an error with status 200 is the provider's failure", async () => {
  provider.answer(json({ error: { message: "no", type: "invalid_request_error", code: null } }));
  expect((await failureOf(call("openai"))).code).toBe("upstream_rejected");
});
