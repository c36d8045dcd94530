/** Reads the `input` of an embeddings request, in each of its four forms, and bounds its tokens. */
import { Buffer } from "node:buffer";
import { Type } from "@sinclair/typebox";
import { invalidRequest, unsupportedParameter } from "../../../../http/bad-request.ts";
import { isJsonObject } from "../../../../http/json-object.ts";
import { embeddingInputsMax, embeddingTokensMax, inputTokensPerMessage } from "../../../limits.ts";
import type { Model } from "../../../models/model.ts";
import { estimateTokens } from "../../../models/tokens/text-tokens.ts";
import type { EmbeddingInputs } from "../../../providers/embedding.ts";

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
 * @param model null: not in the catalog, so its bounds are unknown
 * @throws GatewayError invalid_request or unsupported_parameter, with the path of the first wrong input
 */
export function readInputs(value: unknown, model: Model | null): EmbeddingInputs {
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
