/**
 * The wire format of the Gemini API's embeddings (https://ai.google.dev/api/embeddings). It always calls the method for batches: several
 * parts in one content would become one vector.
 */
import type { EmbeddingCall, EmbeddingFormat, RawEmbeddings } from "../embedding.ts";
import type { EncodedCall } from "../provider.ts";
import { UpstreamFailure } from "../provider.ts";
import { asArray, asCount, asObject } from "../wire/json.ts";
import { googleFailureIn } from "./errors.ts";

/** Older models report no token count. */
export const googleEmbeddings: EmbeddingFormat = { encode, decode, countsAlways: false };

function encode({ route, inputs, dimensions }: EmbeddingCall): EncodedCall {
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

function decode(body: unknown): RawEmbeddings {
  const answer = asObject(body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (answer["error"]) throw googleFailureIn(answer["error"]);
  return {
    vectors: asArray(answer["embeddings"]).map((embedding) => asObject(embedding)?.["values"]),
    promptTokens: asCount(asObject(answer["usageMetadata"])?.["promptTokenCount"]) || null,
  };
}
