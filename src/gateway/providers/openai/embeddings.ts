/** The wire format of OpenAI's embeddings, and of providers that differ from it in the names of a few fields. */
import type { EmbeddingCall, EmbeddingFormat, EmbeddingInputs, RawEmbeddings } from "../embedding.ts";
import { UpstreamFailure } from "../provider.ts";
import { asArray, asCount, asObject, type JsonObject } from "../wire/json.ts";
import { failureIn } from "./errors.ts";

interface Dialect {
  /** The field of the requested dimensions. */
  dimensions: "dimensions" | "output_dimension";
  /** The requested `encoding_format`; null: the provider has no such field and answers numbers. */
  encoding: "base64" | "float" | null;
  /** What is sent if the request has no `input_type`; null: nothing. */
  inputType: "document" | null;
  /** Fields that every request has. */
  always: JsonObject;
}

/** base64 is requested where there is a choice: numbers as JSON take twice the bytes and ten times the time. */
export function openaiEmbeddings(dialect: Dialect): EmbeddingFormat {
  return { encode: (call) => encode(call, dialect), decode, countsAlways: true };
}

function encode({ generation, route, inputs, dimensions, inputType }: EmbeddingCall, dialect: Dialect) {
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

function decode(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (answer["error"]) throw failureIn(answer["error"]);
  const usage = asObject(answer["usage"]);
  return {
    vectors: inOrder(asArray(answer["data"])),
    // Voyage reports the total alone.
    promptTokens: asCount(usage?.["prompt_tokens"]) || asCount(usage?.["total_tokens"]),
  };
}

/** Vectors may come in any order: `index` names the input. An item without one has the index of its place. */
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
