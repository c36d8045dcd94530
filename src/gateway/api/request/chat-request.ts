/**
 * Check 2 for endpoints that complete a prompt: turns the bytes of a body into a request that can be priced and sent, or answers the first
 * problem with its field. It reads `model`, then the prompt, then the fields in the order of the official schema, and last checks that the
 * wire format of every route supports them, since any route may serve. A model that the catalog does not have is not a problem here: check
 * 4 answers it, and rules that depend on the model are skipped. A routed request may name further models. Each must support the whole
 * request and gets its own body, because what is sent depends on the model. Models with equal rules share that work, and other requests run
 * between two bodies.
 */
import { parseJsonObject, isJsonObject, type JsonObject } from "../../../http/json.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { GatewayError } from "../../../kernel/errors.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { takesReasoning } from "../../models/dialect.ts";
import type { Model } from "../../models/model.ts";
import { needsEstimate } from "../../models/price.ts";
import { countedOnce, inputTokensBound, inputTokensEstimate } from "../../models/chat-tokens.ts";
import type { ChatBody, ChatMessage } from "../../providers/provider.ts";
import { chatFields, type ChatField, requireSupport, outputMinimum, samplesWithoutReasoning } from "./chat-fields.ts";
import { readMessages } from "./chat-parts.ts";
import { readField, truncated, unknownField, type ReadContext } from "./read-value.ts";
import {
  readModelId,
  requireKind,
  addedBytes,
  rejectUnsupportedFields,
  permittedModel,
  readRouting,
  routingFields,
  type RoutingCatalog,
  type RoutingFields,
} from "./requested-model.ts";

export interface CheckedChat {
  /** The fields to send to the provider: no labels, no nulls, no fields that the gateway itself acts on. */
  body: ChatBody;
  model: string;
  streamed: boolean;
  /** The client requested the usage chunk. */
  includeUsage: boolean;
  /** The client requested the charge in the usage. */
  includeCost: boolean;
  /** null: the model's maximum, or what the prompt leaves of its context. */
  maxTokens: number | null;
  /** The client's name for that bound; absent: it gave none. */
  outputField?: "max_tokens" | "max_completion_tokens";
  /** The field that holds the prompt. Absent: `messages`. */
  promptField?: "prompt";
  /** The request has tools, so the provider's hidden prompt is larger. */
  tools: boolean;
  /** Upper bound of the tokens that a provider counts for the body, without its hidden prompt, at any of the permitted routes. */
  inputTokens: number;
  /** The prompt's tokens if the provider does not report them. They are counted at the first call. */
  promptEstimate: () => number;
  /** The same count, present only if the model's output bound depends on it. */
  promptTokens?: number;
  /** Absent: the request has no routing fields. */
  routing?: CheckedRouting;
}

/** The routing fields of a request, and what to send to a provider, by the id of the model. */
export interface CheckedRouting extends RoutingFields {
  bodies: ReadonlyMap<string, ChatBody>;
}

export interface CheckChatOptions {
  /** A published model; null: the catalog does not have it, which a later check refuses. */
  find(id: string): Model | null;
  /** Absent or null: routing is off for the workspace. */
  routing?: RoutingCatalog | null;
}

/** What a request of an endpoint may have in addition to `model`. */
export interface RequestFormat {
  /** In the order in which they are read. */
  fields: readonly ChatField[];
  /** The names of all fields, from `knownFields`. */
  known: ReadonlySet<string>;
  /** The field that holds the prompt. */
  prompt: "messages" | "prompt";
  /** The bound on output of a request that has none; null: the model's maximum. */
  maxTokensDefault: number | null;
  /** Reads the field that holds the prompt. @throws GatewayError with `param` */
  messages(context: ReadContext): ChatMessage[];
}

/** @param prompt the field that holds the prompt */
export function knownFields(prompt: string, fields: readonly ChatField[]): ReadonlySet<string> {
  return new Set(["model", prompt, ...fields.map((field) => field.name), ...routingFields]);
}

export const chatRequestFormat: RequestFormat = {
  fields: chatFields,
  known: knownFields("messages", chatFields),
  prompt: "messages",
  maxTokensDefault: null,
  messages: (context) => readMessages(context.request["messages"], context),
};

/** @throws GatewayError invalid_request or unsupported_parameter with `param` */
export function checkChat(bytes: Uint8Array, options: CheckChatOptions): CheckedChat {
  return checkRequest(bytes, chatRequestFormat, options);
}

/**
 * Reads `model`, the prompt (in a chat `messages` and their items), then the fields in the order of the official schema, and last
 * checks that the wire format of the model's provider supports them. The first problem is answered. Rules that depend on the model are
 * skipped if it is not in the catalog.
 * @throws GatewayError invalid_request or unsupported_parameter with `param`
 */
export function checkRequest(bytes: Uint8Array, format: RequestFormat, options: CheckChatOptions): CheckedChat {
  return checkParsed(parseJsonObject(bytes), format, options);
}

const outputFields = ["max_completion_tokens", "max_tokens"] as const;

/** As `checkRequest`, except that the further models of a routed request are not checked yet. */
function checkParsed(
  request: JsonObject,
  format: RequestFormat,
  { find, routing: catalog = null }: CheckChatOptions,
): CheckedChat {
  const model = readModelId(request["model"], "model");
  const context: ReadContext = { request, model: find(model) };
  requireKind(context.model, "chat");
  const body = readPromptBody(model, format, context);
  const routing = readRouting(request, model, catalog);
  rejectUnknownFields(request, format.known);
  const permitted = routing === null ? context.model : permittedModel(context.model, routing);
  rejectUnsupportedFields(body, permitted);
  const includeCost = isOn(request["usage"], "include");
  const inputTokens = inputTokensBound(body) + addedBytes(body, permitted);
  const outputField = outputFields.find((name) => typeof request[name] === "number");
  const maxTokens = numberOrNull(outputField && request[outputField]) ?? format.maxTokensDefault;
  const tools = body["tools"] !== undefined || body["functions"] !== undefined;
  const promptEstimate = countedOnce(body, inputTokensEstimate);
  const isUnbounded = maxTokens === null && context.model !== null && needsEstimate(context.model, { inputTokens, tools });
  return {
    body,
    model,
    streamed: request["stream"] === true,
    includeUsage: includeCost || isOn(request["stream_options"], "include_usage"),
    includeCost,
    maxTokens,
    ...(outputField && { outputField }),
    ...(format.prompt === "prompt" && { promptField: format.prompt }),
    tools,
    inputTokens,
    promptEstimate,
    ...(isUnbounded && { promptTokens: promptEstimate() }),
    ...(routing !== null && { routing: { ...routing, bodies: new Map([[model, body]]) } }),
  };
}

/** The fields that this model takes. @throws GatewayError when one is not valid for it */
function readPromptBody(model: string, format: RequestFormat, context: ReadContext): ChatBody {
  const body: ChatBody = { model, messages: format.messages(context) };
  for (const field of format.fields) {
    const value = readField(context.request[field.name], field.name, field, context);
    if (value === undefined) continue;
    if (field.needs) requireSupport(field.needs, field.name, context);
    body[field.name] = value;
  }
  return body;
}

function rejectUnknownFields(request: JsonObject, known: ReadonlySet<string>): void {
  for (const name of Object.keys(request)) if (!known.has(name)) throw unknownField(truncated(name));
}

function isOn(options: unknown, name: string): boolean {
  return isJsonObject(options) && options[name] === true;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

// Routed requests

/** As `checkRequest`, in workspaces with routing on. */
export async function checkRouted(
  bytes: Uint8Array,
  format: RequestFormat,
  options: CheckChatOptions & { clock: Clock },
): Promise<CheckedChat> {
  const request = parseJsonObject(bytes);
  const chat = checkParsed(request, format, options);
  const readBody = (id: string, model: Model | null): ChatBody => readPromptBody(id, format, { request, model });
  return withFurtherModels(chat, { ...options, readBody });
}

interface FurtherModels {
  find(id: string): Model | null;
  clock: Clock;
  /** Reads the request's fields for a model. */
  readBody(id: string, model: Model | null): ChatBody;
}

/**
 * Adds the bodies of the further models. Models with equal rules share the work, and other work runs between two bodies, since a request
 * may be large and name eight models.
 * @throws GatewayError whose message names the model that does not support a field
 */
async function withFurtherModels(chat: CheckedChat, { find, clock, readBody }: FurtherModels): Promise<CheckedChat> {
  const { routing, maxTokens, tools } = chat;
  if (routing === undefined || routing.models.length === 1) return chat;
  const yielder = new EventLoopYielder(clock);
  const byRules = new Map([[rulesOf(find(chat.model), maxTokens), chat.body]]);
  const bodies = new Map(routing.bodies);
  let { inputTokens } = chat;
  for (const { id } of routing.models.slice(1)) {
    const model = find(id);
    const permitted = permittedModel(model, routing);
    if (permitted?.routes.length === 0) continue;
    await yielder.yieldIfDue();
    const rules = rulesOf(model, maxTokens);
    const shared = byRules.get(rules);
    const body = namingModel(id, () => {
      const own = shared ? { ...shared, model: id } : readBody(id, model);
      rejectUnsupportedFields(own, permitted);
      return own;
    });
    bodies.set(id, body);
    byRules.set(rules, shared ?? body);
    const added = addedBytes(body, permitted);
    if (shared && added === 0) continue;
    inputTokens = Math.max(inputTokens, inputTokensBound(body) + added);
  }
  const isTight = ({ id }: { id: string }): boolean => {
    const model = find(id);
    return model !== null && needsEstimate(model, { inputTokens, tools });
  };
  let promptTokens = 0;
  if (maxTokens === null && routing.models.some(isTight)) {
    for (const body of byRules.values()) {
      await yielder.yieldIfDue();
      promptTokens = Math.max(promptTokens, body === chat.body ? chat.promptEstimate() : inputTokensEstimate(body));
    }
  }
  return { ...chat, inputTokens, ...(promptTokens > 0 && { promptTokens }), routing: { ...routing, bodies } };
}

/** What decides how a model's body is read. */
function rulesOf(model: Model | null, maxTokens: number | null): string {
  if (model === null) return "";
  const { supports, defaultOnly, maxOutputTokens, refusesForcedTools } = model;
  const isWithin = maxTokens === null || (maxTokens >= outputMinimum(model) && maxTokens <= maxOutputTokens);
  const facts = [
    [...supports].toSorted(),
    [...defaultOnly].toSorted(),
    samplesWithoutReasoning(model),
    takesReasoning(model),
    refusesForcedTools,
  ];
  return JSON.stringify([...facts, isWithin || maxOutputTokens]);
}

function namingModel<Result>(id: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, {
      param: error.param ?? undefined,
      message: error.message.startsWith(`${id} `) ? error.message : `${error.message} (model ${id})`,
    });
  }
}
