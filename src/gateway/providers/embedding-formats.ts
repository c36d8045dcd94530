/**
 * The wire formats of embeddings: OpenAI's, which Mistral and Voyage speak with other names for a few fields; the Gemini API's; Cohere's
 * second API. base64 is requested where there is a choice: numbers as JSON take twice the bytes and ten times the time. A text that is too
 * long is refused by the provider, never cut.
 */
import type { EmbeddingFormatName } from "../models/model.ts";
import type { EmbeddingCall, EmbeddingFormat, EmbeddingInputs, RawEmbeddings } from "./embedding.ts";
import { googleFailureIn } from "./google/errors.ts";
import { failureIn } from "./openai/errors.ts";
import { UpstreamFailure, type EncodedCall } from "./provider.ts";
import { asArray, asCount, asObject, type JsonObject } from "./wire/json.ts";

interface Dialect {
  /** The field of the requested dimensions. */
  dimensions: "dimensions" | "output_dimension";
  /** The requested `encoding_format`; null: the provider has no such field and answers with numbers. */
  encoding: "base64" | "float" | null;
  /** What is sent if the request has no `input_type`; null: nothing. */
  inputType: "document" | null;
  /** Fields that every request has. */
  always: JsonObject;
}

/** base64 is requested where there is a choice: numbers as JSON take twice the bytes and ten times the time. */
function openaiEmbeddings(dialect: Dialect): EmbeddingFormat {
  return { encode: (call) => encodeOpenai(call, dialect), decode: decodeOpenai, countsAlways: true };
}

function encodeOpenai({ generation, route, inputs, dimensions, inputType }: EmbeddingCall, dialect: Dialect) {
  const kind = inputType ?? dialect.inputType;
  const body = {
    model: route.upstreamModel,
    input: valuesOf(inputs),
    ...(dialect.encoding !== null && { encoding_format: dialect.encoding }),
    ...(dimensions !== null && { [dialect.dimensions]: dimensions }),
    ...(kind !== null && { input_type: kind }),
    ...dialect.always,
  };
  return { path: "/embeddings", headers: { "x-client-request-id": generation }, body: JSON.stringify(body) };
}

function valuesOf(inputs: EmbeddingInputs): readonly unknown[] {
  return inputs.kind === "texts" ? inputs.texts : inputs.tokens;
}

function decodeOpenai(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (answer["error"]) throw failureIn(answer["error"]);
  const usage = asObject(answer["usage"]);
  return {
    vectors: inOrder(asArray(answer["data"])),
    // Voyage reports only the total.
    promptTokens: asCount(usage?.["prompt_tokens"]) || asCount(usage?.["total_tokens"]),
  };
}

/** Vectors may come in any order: `index` names the input. An item without one takes its place as its index. */
function inOrder(items: readonly unknown[]): unknown[] {
  const vectors: unknown[] = Array.from({ length: items.length });
  const seen = new Set<number>();
  for (const [place, item] of items.entries()) {
    const entry = asObject(item);
    const index = asCount(entry?.["index"]) ?? place;
    if (index >= items.length || seen.has(index))
      throw new UpstreamFailure("upstream_error", "the vectors' indexes are no order");
    seen.add(index);
    vectors[index] = entry?.["embedding"];
  }
  return vectors;
}

// Google: https://ai.google.dev/api/embeddings

/** It always calls the batch method: several parts in one content would become one vector. Older models report no token count. */
const googleEmbeddings: EmbeddingFormat = { encode: encodeGoogle, decode: decodeGoogle, countsAlways: false };

function encodeGoogle({ route, inputs, dimensions }: EmbeddingCall): EncodedCall {
  if (inputs.kind !== "texts") throw new RangeError("Google's embeddings take no token ids");
  const model = `models/${route.upstreamModel}`;
  const requests = inputs.texts.map((text) => ({
    model,
    content: { parts: [{ text }] },
    ...(dimensions !== null && { outputDimensionality: dimensions }),
  }));
  const path = `/models/${encodeURIComponent(route.upstreamModel)}:batchEmbedContents`;
  return { path, headers: {}, body: JSON.stringify({ requests }) };
}

function decodeGoogle(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (answer["error"]) throw googleFailureIn(answer["error"]);
  return {
    vectors: asArray(answer["embeddings"]).map((embedding) => asObject(embedding)?.["values"]),
    promptTokens: asCount(asObject(answer["usageMetadata"])?.["promptTokenCount"]) || null,
  };
}

// Cohere: https://docs.cohere.com/reference/embed

const cohereEmbeddings: EmbeddingFormat = { encode: encodeCohere, decode: decodeCohere, countsAlways: true };

/** The input's type is required. A text that is too long is refused, never cut. */
function encodeCohere({ route, inputs, dimensions, inputType }: EmbeddingCall): EncodedCall {
  if (inputs.kind !== "texts") throw new RangeError("Cohere's embeddings take no token ids");
  const body = {
    model: route.upstreamModel,
    texts: inputs.texts,
    input_type: inputType === "query" ? "search_query" : "search_document",
    embedding_types: ["float"],
    ...(dimensions !== null && { output_dimension: dimensions }),
    truncate: "NONE",
  };
  return { path: "/v2/embed", headers: {}, body: JSON.stringify(body) };
}

function decodeCohere(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const billed = asObject(asObject(answer["meta"])?.["billed_units"]);
  return {
    vectors: [...asArray(asObject(answer["embeddings"])?.["float"])],
    promptTokens: asCount(billed?.["input_tokens"]) || null,
  };
}

/** Every wire format of embeddings. Mistral and Voyage speak OpenAI's. */
export const embeddingFormats: Record<EmbeddingFormatName, EmbeddingFormat> = {
  openai: openaiEmbeddings({ dimensions: "dimensions", encoding: "base64", inputType: null, always: {} }),
  mistral: openaiEmbeddings({ dimensions: "output_dimension", encoding: "float", inputType: null, always: {} }),
  // Without its type a text would be embedded as neither query nor document. A text that is too long is refused, never cut.
  voyage: openaiEmbeddings({
    dimensions: "output_dimension",
    encoding: null,
    inputType: "document",
    always: { truncation: false },
  }),
  cohere: cohereEmbeddings,
  google: googleEmbeddings,
};
