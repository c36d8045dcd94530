/** Check 2 of a chat completion: turns the bytes of a body into a request that can be priced and sent. */
import { inputTokensBound } from "../../models/input-bound.ts";
import type { Model } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { chatFields } from "./chat-fields.ts";
import { readModelId } from "./model-id.ts";
import { requireKind } from "./model-kind.ts";
import { readMessages } from "./chat-messages.ts";
import { requireSupport } from "./chat-options.ts";
import { parseJsonObject } from "../../../http/json-body.ts";
import { isJsonObject, type JsonObject } from "../../../http/json-object.ts";
import { readField, truncated, unknownField, type ReadContext } from "./read-value.ts";
import { estimatedTokens } from "./text-bytes.ts";
import { rejectRouting, routingFields } from "./routing-fields.ts";
import { rejectUnsupportedFields } from "./unsupported-fields.ts";

export interface CheckedChat {
  /** The fields to send to the provider: no labels, no nulls, no fields that the gateway itself acts on. */
  body: ChatBody;
  model: string;
  streamed: boolean;
  /** The client requested the usage chunk. */
  includeUsage: boolean;
  /** null: the client set no bound. */
  maxTokens: number | null;
  /** The request has tools, so the provider's hidden prompt is larger. */
  tools: boolean;
  /** Upper bound of the tokens that a provider counts for the body, without its hidden prompt. */
  inputTokens: number;
  /** The prompt's tokens if the provider does not report them. */
  promptEstimate: number;
}

export interface CheckChatOptions {
  /** A published model; null: the catalog does not have it, which a later check refuses. */
  find(id: string): Model | null;
}

const knownFields = new Set(["model", "messages", ...chatFields.map((field) => field.name), ...routingFields]);

/**
 * Reads `model`, `messages` and their items, then the fields in the order of the official schema, and last checks that the wire format of
 * the model's provider supports them. The first problem is answered. Rules that depend on the model are skipped if it is not in the catalog.
 * @throws GatewayError invalid_request or unsupported_parameter with `param`
 */
export function checkChat(bytes: Uint8Array, { find }: CheckChatOptions): CheckedChat {
  const request = parseJsonObject(bytes);
  const model = readModelId(request["model"], "model");
  const context: ReadContext = { request, model: find(model) };
  requireKind(context.model, "chat");
  const body: ChatBody = { model, messages: readMessages(request["messages"], context) };
  for (const field of chatFields) {
    const value = readField(request[field.name], field.name, field, context);
    if (value === undefined) continue;
    if (field.needs) requireSupport(field.needs, field.name, context);
    body[field.name] = value;
  }
  rejectRouting(request);
  rejectUnknownFields(request);
  rejectUnsupportedFields(body, context.model);
  const streamOptions = request["stream_options"];
  const inputTokens = inputTokensBound(body);
  return {
    body,
    model,
    streamed: request["stream"] === true,
    includeUsage: isJsonObject(streamOptions) && streamOptions["include_usage"] === true,
    maxTokens: numberOrNull(request["max_completion_tokens"]) ?? numberOrNull(request["max_tokens"]),
    tools: body["tools"] !== undefined || body["functions"] !== undefined,
    inputTokens,
    promptEstimate: estimatedTokens(inputTokens),
  };
}

function rejectUnknownFields(request: JsonObject): void {
  for (const name of Object.keys(request)) if (!knownFields.has(name)) throw unknownField(truncated(name));
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
