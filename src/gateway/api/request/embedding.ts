/**
 * Check 2 of an embeddings request: its fields except `model` and `input`, in the order of the official schema, with the one addition to it
 * (`input_type`); the input in each of its four forms; and the bound on its tokens that is reserved. A text reserves its bytes in UTF-8 and
 * a few more, and a list of token ids reserves one for each id: both are upper bounds of what a provider counts. The estimate, which is
 * charged when a provider reports no count, is made at the first call. Only models that take token ids get them, because another tokenizer
 * would read another text in them.
 */
import { Buffer } from "node:buffer";
import { Type } from "@sinclair/typebox";
import { unsupportedParameter, invalidRequest } from "../../../kernel/errors.ts";
import { parseJsonObject, type JsonObject, isJsonObject } from "../../../http/json.ts";
import { nearest } from "../../../kernel/text.ts";
import type { RequestFacts } from "../../admission/message.ts";
import { embeddingValuesMax, embeddingInputsMax, embeddingTokensMax, inputTokensPerMessage } from "../../limits.ts";
import { allowsDimensions, type EmbeddingWord } from "../../models/catalog-entry.ts";
import type { DimensionsRange, Model } from "../../models/model.ts";
import { countedOnce } from "../../models/chat-tokens.ts";
import { estimateTokens } from "../../models/text-tokens.ts";
import { inputCount, type EmbeddingRequest, type EmbeddingInputs } from "../../providers/embedding.ts";
import {
  checkOnly,
  added,
  anyString,
  integerFrom,
  nullable,
  oneOf,
  reader,
  type Field,
  type ReadContext,
  readField,
  truncated,
} from "./read-value.ts";
import { ofModel, readModelId, requireKind, routingFieldOf, routingFields } from "./requested-model.ts";

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

const inputTypes = oneOf("query", "document");

const inputType = reader(inputTypes.schema, (value, at, context) => {
  const word = inputTypes(value, at, context);
  requireWord("input_type", at, context);
  return word;
});

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

export interface CheckedEmbedding extends EmbeddingRequest, RequestFacts {
  /** The answer's vectors are base64. */
  base64: boolean;
  /** The tokens of the inputs if the provider does not report them. They are counted at the first call. */
  promptEstimate: () => number;
  /** Memory that vectors and their texts may take together; 0: the model is not in the catalog. */
  answerBytes: number;
}

/** For a number of a vector: the provider's text of it, the number itself, and its text in the answer. A key may hold the largest answer. */
const bytesPerNumber = { base64: 16, float: 24 };

/**
 * Reads `model`, then `input`, then the fields in the order of the official schema. Rules that depend on the model are skipped if it is
 * not in the catalog, which a later check refuses.
 * @throws GatewayError invalid_request or unsupported_parameter with `param`
 */
export function checkEmbedding(bytes: Uint8Array, { find }: { find(id: string): Model | null }): CheckedEmbedding {
  const request = parseJsonObject(bytes, embeddingValuesMax);
  const id = readModelId(request["model"], "model");
  const model = find(id);
  return ofModel(model, () => checkedEmbedding(request, { id, model }));
}

function checkedEmbedding(request: JsonObject, { id, model }: { id: string; model: Model | null }): CheckedEmbedding {
  requireKind(model, "embeddings");
  const inputs = readInputs(request["input"], model);
  const context: ReadContext = { request, model };
  const [encoding, dimensions, , inputType] = embeddingFields.map(([name, field]) =>
    readField(request[name], name, field, context),
  );
  rejectOtherFields(request);
  const base64 = encoding === "base64";
  const inputTokensMax = model?.contextLength ?? Infinity;
  const numbers = inputCount(inputs) * (typeof dimensions === "number" ? dimensions : (model?.embeddings?.dimensions ?? 0));
  return {
    model: id,
    inputs,
    dimensions: typeof dimensions === "number" ? dimensions : null,
    inputType: inputType === "query" || inputType === "document" ? inputType : null,
    base64,
    inputTokens: inputTokensBoundOf(inputs, inputTokensMax),
    promptEstimate: countedOnce(inputs, (counted) => inputTokensEstimateOf(counted, inputTokensMax)),
    maxTokens: null,
    tools: false,
    answerBytes: model === null ? 0 : numbers * bytesPerNumber[base64 ? "base64" : "float"],
  };
}

function described(allowed: readonly number[] | DimensionsRange): string {
  return "min" in allowed ? `from ${allowed.min} to ${allowed.max}` : `one of ${allowed.join(", ")}`;
}

function requireWord(word: EmbeddingWord, at: string, { model }: ReadContext): void {
  if (model === null || model.supports.has(word)) return;
  throw unsupportedParameter(at, `${at} is not supported by ${model.id}: its vectors are the same for queries and documents`);
}

const fieldNames = ["model", "input", ...embeddingFields.map(([name]) => name)];
const knownFields = new Set([...fieldNames, ...routingFields]);

function rejectOtherFields(request: JsonObject): void {
  const routing = routingFieldOf(request);
  if (routing !== null) throw unsupportedParameter(routing, `${routing} is not supported: an embeddings model has one provider`);
  for (const name of Object.keys(request)) {
    if (knownFields.has(name)) continue;
    const at = truncated(name);
    throw unsupportedParameter(at, `${at} is not a supported field; the nearest is ${nearest(name, fieldNames)}`);
  }
}

// The input

const text = Type.String({ minLength: 1 });
const tokenId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const listMax = { minItems: 1, maxItems: embeddingInputsMax };

export const inputSchema = Type.Union(
  [text, Type.Array(text, listMax), Type.Array(tokenId, listMax), Type.Array(Type.Array(tokenId, { minItems: 1 }), listMax)],
  {
    description:
      "What is embedded: a text, several texts, the token ids of one text, or those of several. Not every model takes token ids, and " +
      "each has its own bounds: `max_inputs` and `context_length` of GET /models",
  },
);

/**
 * An upper bound of the provider's count. A token of a byte-level vocabulary has at least one byte.
 * @param max the model's context length: no input has more tokens
 */
export function inputTokensBoundOf(inputs: EmbeddingInputs, max: number): number {
  if (inputs.kind === "tokens") return sumOf(inputs.tokens, (ids) => Math.min(ids.length, max));
  return sumOf(inputs.texts, (one) => Math.min(Buffer.byteLength(one) + inputTokensPerMessage, max));
}

/** The count if the provider reports none. @param max as above */
export function inputTokensEstimateOf(inputs: EmbeddingInputs, max: number): number {
  if (inputs.kind === "tokens") return inputTokensBoundOf(inputs, max);
  return sumOf(inputs.texts, (one) => Math.min(estimateTokens(one), max));
}

function sumOf<Item>(items: readonly Item[], tokensOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + tokensOf(item), 0);
}

/**
 * @param model null: not in the catalog, so its bounds are unknown
 * @throws GatewayError invalid_request or unsupported_parameter, with the path of the first wrong input
 */
function readInputs(value: unknown, model: Model | null): EmbeddingInputs {
  if (value === undefined || value === null) throw invalidRequest("input", "input is required");
  const inputs = inputsOf(value);
  if (model === null) return inputs;
  if (inputs.kind === "tokens")
    requireTokenInput(inputs.tokens, { model, isFlat: Array.isArray(value) && !Array.isArray(value[0]) });
  const count = inputs.kind === "texts" ? inputs.texts.length : inputs.tokens.length;
  const max = model.embeddings?.inputsMax ?? embeddingInputsMax;
  if (count > max) throw invalidRequest("input", `input has ${count} inputs, and ${model.id} takes at most ${max} a request`);
  return inputs;
}

function inputsOf(value: unknown): EmbeddingInputs {
  if (typeof value === "string") return { kind: "texts", texts: [readText(value, "input")] };
  if (!Array.isArray(value)) throw invalidRequest("input", "input must be a text, or an array of texts or of token ids");
  const items: readonly unknown[] = value;
  if (items.length === 0) throw invalidRequest("input", "input must not be empty");
  if (items.length > embeddingInputsMax) {
    throw invalidRequest("input", `input must not have more than ${embeddingInputsMax} items`);
  }
  const [first] = items;
  if (typeof first === "number") return { kind: "tokens", tokens: [readTokens(items, "input")] };
  if (Array.isArray(first)) return { kind: "tokens", tokens: items.map((item, index) => readTokens(item, `input[${index}]`)) };
  return { kind: "texts", texts: items.map((item, index) => readText(item, `input[${index}]`)) };
}

function readText(value: unknown, at: string): string {
  if (isJsonObject(value)) throw unsupportedParameter(at, `${at} must be a text: only text is supported`);
  if (typeof value !== "string") throw invalidRequest(at, `${at} must be a text, as the first input is`);
  if (value === "") throw invalidRequest(at, `${at} must not be empty`);
  return value;
}

function readTokens(value: unknown, at: string): number[] {
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array of token ids, as the first input is`);
  if (value.length === 0) throw invalidRequest(at, `${at} must not be empty`);
  const wrong = value.findIndex((id) => !Number.isSafeInteger(id) || id < 0);
  if (wrong !== -1) throw invalidRequest(`${at}[${wrong}]`, `${at}[${wrong}] must be a token id, a whole number of at least 0`);
  return value as number[];
}

/** Ids of another tokenizer would be read as another text, so the model must take them. */
function requireTokenInput(tokens: readonly (readonly number[])[], { model, isFlat }: { model: Model; isFlat: boolean }): void {
  if (!model.supports.has("token_input")) {
    const message = `${model.id} takes no token ids: send texts (in LangChain's OpenAIEmbeddings, check_embedding_ctx_length=False)`;
    throw unsupportedParameter("input", message);
  }
  let total = 0;
  for (const [index, ids] of tokens.entries()) {
    const at = isFlat ? "input" : `input[${index}]`;
    if (ids.length > model.contextLength) {
      throw invalidRequest(at, `${at} has ${ids.length} tokens, and ${model.id} takes at most ${model.contextLength} an input`);
    }
    total += ids.length;
  }
  if (total > embeddingTokensMax) {
    throw invalidRequest("input", `input has ${total} tokens, and a request takes at most ${embeddingTokensMax}`);
  }
}
