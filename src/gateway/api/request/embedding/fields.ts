/** The fields of an embeddings request but `model` and `input`, in the order of the official schema, and the one addition to it. */
import { unsupportedParameter } from "../../../../http/bad-request.ts";
import { allowsDimensions, type EmbeddingWord } from "../../../models/embedding-entry.ts";
import type { DimensionsRange } from "../../../models/model.ts";
import { invalidRequest } from "../../../../http/bad-request.ts";
import { checkOnly } from "../chat-options.ts";
import { added, anyString, integerFrom, nullable, oneOf, reader, type Field, type ReadContext } from "../read-value.ts";

const anyDimensions = integerFrom(1);

const dimensions = reader(anyDimensions.schema, (value, at, context) => {
  const asked = anyDimensions(value, at, context) as number;
  const { model } = context;
  if (model === null || model.embeddings === undefined) return asked;
  const { dimensions: fixed, allowedDimensions: allowed } = model.embeddings;
  if (allowed === null) {
    throw unsupportedParameter(at, `${model.id} has no ${at}: its vectors have ${fixed} numbers`);
  }
  if (!allowsDimensions(model.embeddings, asked)) throw invalidRequest(at, `${at} of ${model.id} must be ${described(allowed)}`);
  return asked;
});

function described(allowed: readonly number[] | DimensionsRange): string {
  return "min" in allowed ? `from ${allowed.min} to ${allowed.max}` : `one of ${allowed.join(", ")}`;
}

const inputTypes = oneOf("query", "document");

const inputType = reader(inputTypes.schema, (value, at, context) => {
  const word = inputTypes(value, at, context);
  requireWord("input_type", at, context);
  return word;
});

function requireWord(word: EmbeddingWord, at: string, { model }: ReadContext): void {
  if (model === null || model.supports.has(word)) return;
  throw unsupportedParameter(at, `${at} is not supported by ${model.id}: its vectors are the same for queries and documents`);
}

export const embeddingFields: readonly (readonly [name: string, field: Field])[] = [
  [
    "encoding_format",
    nullable(
      oneOf("float", "base64"),
      "The form of each vector: numbers, which is the default, or base64 of little-endian 32-bit floats",
    ),
  ],
  [
    "dimensions",
    nullable(dimensions, "The numbers of each vector. GET /models shows what a model allows; not every model allows it"),
  ],
  ["user", nullable(checkOnly(anyString), "Your label. Not sent on")],
  ["input_type", added(inputType, "What the texts are for; `document` is the default. Not every model supports it")],
];
