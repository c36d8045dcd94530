/** Check 2 of an embeddings request: turns the bytes of a body into a request that can be priced and sent. */
import { unsupportedParameter } from "../../../../http/bad-request.ts";
import { parseJsonObject } from "../../../../http/json-body.ts";
import type { JsonObject } from "../../../../http/json-object.ts";
import { nearest } from "../../../../kernel/nearest.ts";
import type { RequestFacts } from "../../../admission/client/admission.ts";
import { embeddingValuesMax } from "../../../limits.ts";
import type { Model } from "../../../models/model.ts";
import { countedOnce } from "../../../models/tokens/input-tokens.ts";
import { inputCount, type EmbeddingRequest } from "../../../providers/embedding.ts";
import { embeddingFields } from "./fields.ts";
import { inputTokensBoundOf, inputTokensEstimateOf, readInputs } from "./input.ts";
import { readModelId } from "../model-id.ts";
import { requireKind } from "../model-kind.ts";
import { readField, truncated, type ReadContext } from "../read-value.ts";
import { routingFieldOf, routingFields } from "../routing-fields.ts";

export interface CheckedEmbedding extends EmbeddingRequest, RequestFacts {
  /** The answer's vectors are base64. */
  base64: boolean;
  /** The tokens of the inputs if the provider does not report them. They are counted at the first call. */
  promptEstimate: () => number;
  /** Memory that vectors and their texts may take together; 0: the model is not in the catalog. */
  answerBytes: number;
}

const fieldNames = ["model", "input", ...embeddingFields.map(([name]) => name)];
const knownFields = new Set([...fieldNames, ...routingFields]);

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

function rejectOtherFields(request: JsonObject): void {
  const routing = routingFieldOf(request);
  if (routing !== null) throw unsupportedParameter(routing, `${routing} is not supported: an embeddings model has one provider`);
  for (const name of Object.keys(request)) {
    if (knownFields.has(name)) continue;
    const at = truncated(name);
    throw unsupportedParameter(at, `${at} is not a supported field; the nearest is ${nearest(name, fieldNames)}`);
  }
}
