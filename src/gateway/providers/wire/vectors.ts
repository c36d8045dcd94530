/** Checks the vectors of a provider's answer: a wrong one would poison the index that it is put into, without an error. */
import { Buffer } from "node:buffer";
import type { EmbeddingAnswer, RawEmbeddings, Vector } from "../embedding.ts";
import { UpstreamFailure } from "../provider.ts";

interface ExpectedVectors {
  count: number;
  dimensions: number;
  /** Scale each vector to length 1. */
  normalize: boolean;
}

const bytesPerNumber = 4;

/** @throws UpstreamFailure when vectors are missing or too many, have another length, or hold what is no finite 32-bit float */
export function checkedVectors(raw: RawEmbeddings, { count, dimensions, normalize }: ExpectedVectors): EmbeddingAnswer {
  if (raw.vectors.length !== count) {
    throw new UpstreamFailure("upstream_error", `${raw.vectors.length} vectors for ${count} inputs`);
  }
  const vectors = raw.vectors.map((value) => {
    const vector = vectorFrom(value);
    if (vector === null || vector.length !== dimensions) {
      throw new UpstreamFailure("upstream_error", `a vector of ${vector?.length ?? "no"} numbers in place of ${dimensions}`);
    }
    if (!isFinite(vector)) throw new UpstreamFailure("upstream_error", "a vector holds what is no finite number");
    return normalize ? normalized(vector) : vector;
  });
  return { vectors, promptTokens: raw.promptTokens };
}

/** null: neither a list nor base64 of whole numbers. */
function vectorFrom(value: unknown): Vector | null {
  if (Array.isArray(value)) return value as number[];
  if (typeof value !== "string") return null;
  const bytes = Buffer.from(value, "base64");
  // Bytes that are no base64 are skipped, and make the vector shorter.
  if (bytes.length % bytesPerNumber !== 0) return null;
  // Copied, since the buffer may begin anywhere. The machines of every runtime of the service are little-endian, like the bytes.
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** A number beyond the range of 32-bit floats would be infinite in base64. Items that are no numbers fail too. */
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
