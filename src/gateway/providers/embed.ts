/**
 * Calls a provider for embeddings: the only way from an admitted request to an embeddings model. It shares the call itself with http.ts,
 * and checks the vectors, since a wrong one would silently poison the index that it is put into. Vectors that are missing, too many, of
 * another length or not finite fail the call.
 */
import { Buffer } from "node:buffer";
import type { Reservation } from "../credit/reservation.ts";
import { embeddingAnswerBytesMax } from "../limits.ts";
import { embeddingFormats } from "./embedding-formats.ts";
import { inputCount, type EmbeddingAnswer, type EmbeddingCall, type RawEmbeddings, type Vector } from "./embedding.ts";
import { postEncoded, readJson, withUpstream, type CallContext, type CallOptions, type SharedContext } from "./http.ts";
import { UpstreamFailure } from "./provider.ts";
import { wireFormats } from "./registry.ts";

/** `embed` with everything but the call bound. */
export type CallEmbeddings = (reservation: Reservation, call: EmbeddingCall, options?: CallOptions) => Promise<EmbeddingAnswer>;

export function embeddingCalls(shared: SharedContext): CallEmbeddings {
  return (reservation, call, options) => embed(reservation, call, { ...shared, ...options });
}

/**
 * Posts the call to its route's provider and checks the vectors of the answer.
 * @throws UpstreamFailure when there is no usable answer
 * @throws RangeError when the reservation is another generation's
 */
async function embed(reservation: Reservation, call: EmbeddingCall, context: CallContext): Promise<EmbeddingAnswer> {
  if (reservation.generation !== call.generation) {
    throw new RangeError(`Cannot embed for ${call.generation}: the reservation is of ${reservation.generation}`);
  }
  const { provider } = call.route;
  const speaks = provider.embeddings;
  if (speaks === undefined) throw new UpstreamFailure("upstream_error", `${provider.id} has no embeddings`);
  const embeddings = embeddingFormats[speaks.format];
  const { format } = wireFormats[provider.format];
  return withUpstream(context, async (upstream) => {
    const { route, second, onResent } = call;
    const post = { route, streamed: false, second, onResent, format, baseUrl: speaks.baseUrl, encoded: embeddings.encode(call) };
    await postEncoded(post, upstream, context);
    const answer = embeddings.decode(await readJson(upstream, embeddingAnswerBytesMax));
    const { dimensionsExpected: dimensions, normalize } = call;
    return checkedVectors(answer, { count: inputCount(call.inputs), dimensions, normalize });
  });
}

interface ExpectedVectors {
  count: number;
  dimensions: number;
  /** Scale each vector to length 1. */
  normalize: boolean;
}

const bytesPerNumber = 4;

/** @throws UpstreamFailure when vectors are missing or too many, have another length, or hold what is not a finite 32-bit float */
function checkedVectors(raw: RawEmbeddings, { count, dimensions, normalize }: ExpectedVectors): EmbeddingAnswer {
  if (raw.vectors.length !== count) {
    throw new UpstreamFailure("upstream_error", `${raw.vectors.length} vectors for ${count} inputs`);
  }
  const vectors = raw.vectors.map((value) => {
    const vector = vectorFrom(value);
    if (vector === null || vector.length !== dimensions) {
      throw new UpstreamFailure("upstream_error", `a vector of ${vector?.length ?? "no"} numbers in place of ${dimensions}`);
    }
    if (!isFinite(vector)) throw new UpstreamFailure("upstream_error", "a vector holds what is not a finite number");
    return normalize ? normalized(vector) : vector;
  });
  return { vectors, promptTokens: raw.promptTokens };
}

/** null: neither a list nor base64 of whole numbers. */
function vectorFrom(value: unknown): Vector | null {
  if (Array.isArray(value)) return value as number[];
  if (typeof value !== "string") return null;
  const bytes = Buffer.from(value, "base64");
  // Bytes that are not base64 are skipped, and make the vector shorter.
  if (bytes.length % bytesPerNumber !== 0) return null;
  // Copied, since the buffer may begin anywhere. Every machine that runs the service is little-endian, like the bytes.
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** A number beyond the range of 32-bit floats would be infinite in base64. Items that are not numbers fail too. */
function isFinite(vector: Vector): boolean {
  for (let index = 0; index < vector.length; index++) {
    const value: unknown = vector[index];
    if (typeof value !== "number" || !Number.isFinite(Math.fround(value))) return false;
  }
  return true;
}

/** A vector of zeros has no direction and stays as it is. */
function normalized(vector: Vector): Vector {
  let squares = 0;
  for (let index = 0; index < vector.length; index++) squares += (vector[index] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  return length === 0 ? vector : vector.map((value) => value / length);
}
