/** The wire format of Cohere's second API (https://docs.cohere.com/reference/embed). */
import type { EmbeddingCall, EmbeddingFormat, RawEmbeddings } from "../embedding.ts";
import type { EncodedCall } from "../provider.ts";
import { UpstreamFailure } from "../provider.ts";
import { asArray, asCount, asObject } from "../wire/json.ts";

export const cohereEmbeddings: EmbeddingFormat = { encode, decode, countsAlways: true };

/** The input's type is required. A text that is too long is refused, never cut. */
function encode({ route, inputs, dimensions, inputType }: EmbeddingCall): EncodedCall {
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

function decode(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const billed = asObject(asObject(answer["meta"])?.["billed_units"]);
  return {
    vectors: [...asArray(asObject(answer["embeddings"])?.["float"])],
    promptTokens: asCount(billed?.["input_tokens"]) || null,
  };
}
