import { describe, expect, test } from "bun:test";
import { checkEmbedding } from "../../../../src/gateway/api/request/embedding.ts";
import { bodiesPerKeyBytesMax, bodyBytesMax } from "../../../../src/gateway/limits.ts";
import type { Model } from "../../../../src/gateway/models/model.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { embeddingModel } from "../../../support/providers/embedding-answers.ts";
import { aModel } from "../../../support/providers/models.ts";

const encoder = new TextEncoder();
const full = aModel(embeddingModel({ supports: ["token_input", "input_type"] }));
const plain = aModel(embeddingModel({ id: "stub/plain", supports: [], dimensions: { default: 4 } }));
const large = aModel(embeddingModel({ id: "stub/large", context_length: 8_191, max_inputs: 2_048 }));
const models = new Map<string, Model>([full, plain, large, aModel({ id: "stub/chat" })].map((model) => [model.id, model]));

function check(body: unknown) {
  return checkEmbedding(encoder.encode(JSON.stringify(body)), { find: (id) => models.get(id) ?? null });
}

function refusal(body: unknown): string {
  try {
    check(body);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param}`;
    throw error;
  }
  return "accepted";
}

const model = "stub/embed";
const many = (count: number): string[] => Array.from({ length: count }, () => "a");
const ids = (count: number): number[] => Array.from({ length: count }, (_, id) => id);

describe("refused", () => {
  const invalid: [string, unknown, string][] = [
    ["no input", {}, "input"],
    ["null", { input: null }, "input"],
    ["an empty text", { input: "" }, "input"],
    ["an empty list", { input: [] }, "input"],
    ["an empty text among others", { input: ["a", ""] }, "input[1]"],
    ["a number after a text", { input: ["a", 1] }, "input[1]"],
    ["a text after a number", { input: [1, "a"] }, "input[1]"],
    ["a text in token ids", { input: [[1], ["a"]] }, "input[1][0]"],
    ["a text after token ids", { input: [[1], "a"] }, "input[1]"],
    ["no token ids", { input: [[1], []] }, "input[1]"],
    ["a broken token id", { input: [1.5] }, "input[0]"],
    ["a negative token id", { input: [-1] }, "input[0]"],
    ["a token id that is not exact", { input: [2 ** 53] }, "input[0]"],
    ["true", { input: true }, "input"],
    ["null in a list", { input: [null] }, "input[0]"],
    ["2,049 texts", { model: "stub/large", input: many(2_049) }, "input"],
    ["2,049 token ids in one list", { model: "stub/large", input: ids(2_049) }, "input"],
    ["more inputs than the model takes", { input: many(17) }, "input"],
    ["more token ids than the context, alone", { input: ids(101) }, "input"],
    ["more token ids than the context, in a list", { input: [[1], ids(101)] }, "input[1]"],
    ["300,001 token ids", { model: "stub/large", input: [...Array.from({ length: 100 }, () => ids(3_000)), [1]] }, "input"],
    ["another format", { input: "a", encoding_format: "hex" }, "encoding_format"],
    ["no dimensions", { input: "a", dimensions: 0 }, "dimensions"],
    ["broken dimensions", { input: "a", dimensions: 2.5 }, "dimensions"],
    ["dimensions as a text", { model: "stub/plain", input: "a", dimensions: "4" }, "dimensions"],
    ["dimensions outside of the range", { input: "a", dimensions: 5 }, "dimensions"],
    ["another type of input", { input: "a", input_type: "passage" }, "input_type"],
    ["no model", { model: null, input: "a" }, "model"],
    ["a chat model", { model: "stub/chat", input: "a" }, "model"],
    ["a label that is no text", { input: "a", user: 1 }, "user"],
  ];
  test.each(invalid)("%s: invalid_request", (_, body, param) => {
    expect(refusal({ model, ...(body as object) })).toBe(`invalid_request ${param}`);
  });

  const unsupported: [string, unknown, string][] = [
    ["an image", { input: [{ type: "image_url" }] }, "input[0]"],
    ["an image after a text", { input: ["a", { content: "b" }] }, "input[1]"],
    ["token ids of another tokenizer", { model: "stub/plain", input: [1, 2] }, "input"],
    ["dimensions of a model of fixed length", { model: "stub/plain", input: "a", dimensions: 4 }, "dimensions"],
    [
      "a type of input that the model does not tell apart",
      { model: "stub/plain", input: "a", input_type: "query" },
      "input_type",
    ],
    ["a custom model", { model: "custom:one", input: "a" }, "model"],
    ["other models", { input: "a", models: ["stub/plain"] }, "models"],
    ["an order of providers", { input: "a", provider: { order: ["stub"] } }, "provider.order"],
    ["an unknown field", { input: "a", dimension: 4 }, "dimension"],
    ["a field of chat", { input: "a", stream: false }, "stream"],
  ];
  test.each(unsupported)("%s: unsupported_parameter", (_, body, param) => {
    expect(refusal({ model, ...(body as object) })).toBe(`unsupported_parameter ${param}`);
  });

  test("the message for a mistyped field names the nearest", () => {
    expect(() => check({ model, input: "a", dimension: 4 })).toThrow("dimensions");
  });

  test("of several problems the first in the order model, input, schema is answered", () => {
    expect(refusal({ nonsense: 1, dimensions: 0, input: "" })).toBe("invalid_request model");
    expect(refusal({ model, nonsense: 1, dimensions: 0, input: "" })).toBe("invalid_request input");
    expect(refusal({ model, nonsense: 1, dimensions: 0, input: "a" })).toBe("invalid_request dimensions");
  });
});

describe("accepted", () => {
  test("a text, texts, token ids and lists of them", () => {
    expect(check({ model, input: "a" }).inputs).toEqual({ kind: "texts", texts: ["a"] });
    expect(check({ model, input: ["a", "b"] }).inputs).toEqual({ kind: "texts", texts: ["a", "b"] });
    expect(check({ model, input: [1, 2] }).inputs).toEqual({ kind: "tokens", tokens: [[1, 2]] });
    expect(check({ model, input: [[1], [2, 0]] }).inputs).toEqual({ kind: "tokens", tokens: [[1], [2, 0]] });
  });

  test("nulls as absent fields", () => {
    const nulls = { encoding_format: null, dimensions: null, user: null, input_type: null, models: null, provider: null };
    expect(check({ model, input: "a", ...nulls })).toMatchObject({ base64: false, dimensions: null, inputType: null });
  });

  test("every field where the model allows it", () => {
    const fields = { encoding_format: "base64", dimensions: 2, user: "me", input_type: "query" };
    expect(check({ model, input: "a", ...fields })).toMatchObject({ base64: true, dimensions: 2, inputType: "query" });
  });

  test("300,000 token ids and 2,048 texts", () => {
    const rows = Array.from({ length: 100 }, () => ids(3_000));
    expect(check({ model: "stub/large", input: rows }).inputTokens).toBe(300_000);
    expect(refusal({ model: "stub/large", input: many(2_048) })).toBe("accepted");
  });

  test("a model that is not in the catalog, for a later check to refuse, whatever its fields", () => {
    expect(refusal({ model: "acme/none", input: [1], dimensions: 9, input_type: "query" })).toBe("accepted");
  });
});

describe("the memory of an answer", () => {
  test("grows with inputs and dimensions, and the largest answer fits into what a key may hold beside the largest body", () => {
    expect(check({ model, input: ["a", "b"], dimensions: 2, encoding_format: "base64" }).answerBytes).toBe(2 * 2 * 16);
    expect(check({ model, input: "a" }).answerBytes).toBe(4 * 24);
    models.set("stub/wide", aModel(embeddingModel({ id: "stub/wide", dimensions: { default: 3_072 }, max_inputs: 2_048 })));
    const { answerBytes } = check({ model: "stub/wide", input: many(2_048) });
    expect(answerBytes + bodyBytesMax).toBeLessThan(bodiesPerKeyBytesMax);
  });
});

describe("the bound of the tokens", () => {
  test("is each text's bytes and 16, and the exact count of token ids, each at most the context", () => {
    expect(check({ model, input: ["Hello", "World!"] }).inputTokens).toBe(5 + 16 + 6 + 16);
    expect(check({ model, input: ["é", "x".repeat(500)] }).inputTokens).toBe(18 + 100);
    expect(check({ model, input: [[1, 2], [3]] }).inputTokens).toBe(3);
  });

  test("is estimated by each text's pieces, at most the context, where the provider tells no count", () => {
    const estimate = (input: unknown): number => check({ model, input }).promptEstimate();
    expect(estimate(["one two three", "12345"])).toBe(estimate("one two three") + estimate("12345"));
    expect(estimate(["é", "1 ".repeat(500)])).toBe(1 + 100);
    expect(estimate([[1, 2], [3]])).toBe(3);
  });
});
