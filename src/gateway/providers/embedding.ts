/**
 * The interface of embeddings: what a wire format gets, and what its answer holds before it is checked. The neutral form is OpenAI's. A
 * format only encodes and decodes; embed.ts makes the call and checks the vectors.
 */
import type { GenerationId } from "../../kernel/ids.ts";
import type { Route } from "../models/model.ts";
import type { EncodedCall } from "./provider.ts";

/** Texts, or token ids of the model's own tokenizer. At least one, none of them empty. */
export type EmbeddingInputs =
  { kind: "texts"; texts: readonly string[] } | { kind: "tokens"; tokens: readonly (readonly number[])[] };

export interface EmbeddingRequest {
  inputs: EmbeddingInputs;
  /** The requested length of a vector; null: the request does not say. */
  dimensions: number | null;
  /** null: the request does not say. */
  inputType: "query" | "document" | null;
}

export interface EmbeddingCall extends EmbeddingRequest {
  generation: GenerationId;
  route: Route;
  /** The length that each vector must have. */
  dimensionsExpected: number;
  /** The provider does not scale shortened vectors to length 1. */
  normalize: boolean;
  /** Whether this is the second attempt, which uses a new connection. Default: the first. */
  second?: boolean;
  /** Called when the request was sent twice because a kept connection closed during the first send. */
  onResent?: () => void;
}

/** Numbers of a vector: as the provider wrote them, or from base64, which holds 32-bit floats. */
export type Vector = number[] | Float32Array;

export interface EmbeddingAnswer {
  /** One for each input, in the order of the inputs. */
  vectors: Vector[];
  /** null if the provider reported none. */
  promptTokens: number | null;
}

/** An answer as it was received: nothing in it is checked. */
export interface RawEmbeddings {
  /** Each is a base64 text, or a list of numbers. */
  vectors: unknown[];
  promptTokens: number | null;
}

export interface EmbeddingFormat {
  encode(call: EmbeddingCall): EncodedCall;
  /** @throws UpstreamFailure when a response with status 200 holds no vectors */
  decode(body: unknown): RawEmbeddings;
  /** Its answers always have a token count, so one without it is a sign of a wrong address. */
  countsAlways: boolean;
}

export function inputCount(inputs: EmbeddingInputs): number {
  return inputs.kind === "texts" ? inputs.texts.length : inputs.tokens.length;
}
