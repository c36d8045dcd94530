/**
 * Check 2 for endpoints that complete a prompt: turns the bytes of a body into a request that can be priced and sent, or answers the first
 * problem with its field. It reads `model`, then the prompt, then the fields in the order of the official schema, and last checks that the
 * wire format of every route supports them, since any route may serve. A model that the catalog does not have is not a problem here: check
 * 4 answers it, and rules that depend on the model are skipped. A routed request may name further models. Each must support the whole
 * request and gets its own body, because what is sent depends on the model. Models with equal rules share that work, and other requests run
 * between two bodies.
 */
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { longTexts, parseWithLongTexts, type LongTexts } from "../../../http/long-texts.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { asSent, GatewayError } from "../../../kernel/errors.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { takesReasoning } from "../../models/dialect.ts";
import type { Model } from "../../models/model.ts";
import { needsEstimate } from "../../models/price.ts";
import { countedOnce, inputTokensBound, inputTokensEstimate } from "../../models/chat-tokens.ts";
import type { ChatBody, ChatMessage } from "../../providers/provider.ts";
import type { FieldPath } from "../../providers/provider-error.ts";
import { chatFormat, type AnswerFormat } from "../answer/answer-format.ts";
import { chatFields, type ChatField, requireSupport, outputMinimum, samplesWithoutReasoning } from "./chat-fields.ts";
import { readMessages } from "./chat-parts.ts";
import { readField, truncated, unknownField, type ReadContext } from "./read-value.ts";
import {
  readModelId,
  requireKind,
  addedBytes,
  rejectUnsupportedFields,
  ofModel,
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
  /** What the client calls the model. */
  requested: string;
  streamed: boolean;
  /** The client requested the usage chunk. */
  includeUsage: boolean;
  /** The client requested the charge in the usage. */
  includeCost: boolean;
  /** null: the model's maximum, or what the prompt leaves of its context. */
  maxTokens: number | null;
  /** The client's name of that bound; absent: it gave none. */
  outputField?: string;
  /** The field that holds the prompt. Absent: `messages`. */
  promptField?: "prompt" | "input";
  clientPath?: ClientPath;
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

/** A request that passed, and how its answer is written. */
export interface CheckedPrompt {
  chat: CheckedChat;
  format: AnswerFormat;
}

/** The client's name of a field of the chat. @returns null: the client wrote no such field */
export type ClientPath = (body: ChatBody, path: FieldPath) => FieldPath | null;

/** How an endpoint reads its requests. `model` is read before, and the fields of routing are read apart. */
export interface RequestFormat {
  /** The names of all fields, from `knownFields`. */
  known: ReadonlySet<string>;
  /** The field that holds the prompt. */
  promptField: "messages" | "prompt" | "input";
  /** The catalog's id of what the client calls `model`. Absent: they are the same. */
  modelOf?(requested: string, find: CheckChatOptions["find"]): string;
  /** The chat that the request asks for. Called once for each model with other rules. @throws GatewayError with `param` */
  readBody(model: string, context: ReadContext): ChatBody;
  /** Further facts of a model that decide how its body is read, as JSON can write them. Absent: none. */
  rules?(model: Model): unknown;
  /** Called after `readBody`, with the context of the requested model. */
  options(context: ReadContext): RequestOptions;
  /** Absent: all names are the same. */
  clientPath?: ClientPath;
  /** Called last. An open stream holds what the result holds, so that should not be the request. */
  answer(read: ReadRequest): AnswerFormat;
}

/** What the gateway itself does with a request; see `CheckedChat`. */
export interface RequestOptions extends Pick<CheckedChat, "streamed" | "includeUsage" | "includeCost" | "maxTokens"> {
  outputField?: string | undefined;
}

export interface ReadRequest {
  chat: CheckedChat;
  request: JsonObject;
  /** Of which the request has placeholders. null: it has none. */
  texts: LongTexts | null;
  /** The names of hints that were left out for any of the models. */
  ignored: ReadonlySet<string>;
}

interface RequestTable {
  /** In the order in which they are read. */
  fields: readonly ChatField[];
  /** The field that holds the prompt. */
  prompt: "messages" | "prompt";
  /** The bound on output of a request that has none; null: the model's maximum. */
  maxTokensDefault: number | null;
  /** Reads the field that holds the prompt. @throws GatewayError with `param` */
  messages(context: ReadContext): ChatMessage[];
  answer: AnswerFormat;
}

/** The format of an endpoint whose fields have the names and values of chat completions. */
export function tableFormat({ fields, prompt, maxTokensDefault, messages, answer }: RequestTable): RequestFormat {
  return {
    known: knownFields(prompt, fields),
    promptField: prompt,
    readBody: (model, context) => withFields({ model, messages: messages(context) }, fields, context),
    options: ({ request }) => tableOptions(request, maxTokensDefault),
    answer: () => answer,
  };
}

/** @param prompt the field that holds the prompt */
export function knownFields(prompt: string, fields: readonly ChatField[]): ReadonlySet<string> {
  return new Set(["model", prompt, ...fields.map((field) => field.name), ...routingFields]);
}

export const chatRequestFormat: RequestFormat = tableFormat({
  fields: chatFields,
  prompt: "messages",
  maxTokensDefault: null,
  messages: (context) => readMessages(context.request["messages"], context),
  answer: chatFormat,
});

/** @throws GatewayError invalid_request or unsupported_parameter with `param` */
export function checkChat(bytes: Uint8Array, options: CheckChatOptions): CheckedChat {
  return checkRequest(bytes, chatRequestFormat, options).chat;
}

/**
 * Reads `model`, the prompt (in a chat `messages` and their items), then the fields in the order of the official schema, and last
 * checks that the wire format of every route supports them. The first problem is answered. Rules that depend on the model are
 * skipped if it is not in the catalog.
 * @throws GatewayError invalid_request or unsupported_parameter with `param`
 */
export function checkRequest(bytes: Uint8Array, format: RequestFormat, options: CheckChatOptions): CheckedPrompt {
  const read = readRequest(bytes);
  const chat = checkParsed(read, format, options);
  return { chat, format: format.answer({ ...read, chat }) };
}

interface Reading {
  request: JsonObject;
  /** Of which the request has placeholders. null: it has none. */
  texts: LongTexts | null;
  ignored: Set<string>;
}

function readRequest(bytes: Uint8Array): Reading {
  return { ...parseWithLongTexts(bytes), ignored: new Set() };
}

/** The body that a format read, with its long texts. */
function bodyOf(model: string, context: ReadContext & Reading, format: RequestFormat): ChatBody {
  const body = format.readBody(model, context);
  if (context.texts !== null) body[longTexts] = context.texts;
  return body;
}

/** The estimate needs the texts themselves. */
function promptTokensOf(body: ChatBody): number {
  return inputTokensEstimate(body[longTexts]?.restored(body) ?? body);
}

/** The further models of a routed request are not checked yet. */
function checkParsed(reading: Reading, format: RequestFormat, { find, routing: catalog = null }: CheckChatOptions): CheckedChat {
  const requested = readModelId(reading.request["model"], "model");
  const model = format.modelOf?.(requested, find) ?? requested;
  const context = { ...reading, model: find(model) };
  return ofModel(context.model, () => checkedChat({ context, format, catalog }, { model, requested }));
}

interface Checking {
  context: ReadContext & Reading;
  format: RequestFormat;
  catalog: RoutingCatalog | null;
}

/** @throws GatewayError of the request's model */
function checkedChat(
  { context, format, catalog }: Checking,
  { model, requested }: Pick<CheckedChat, "model" | "requested">,
): CheckedChat {
  const { request } = context;
  requireKind(context.model, "chat");
  const body = bodyOf(model, context, format);
  const routing = readRouting(request, model, catalog);
  rejectUnknownFields(request, format.known);
  const permitted = routing === null ? context.model : permittedModel(context.model, routing);
  const { promptField, clientPath } = format;
  rejectUnsupportedFields(body, permitted, clientPath);
  const inputTokens = inputTokensBound(body) + addedBytes(body, permitted);
  const { streamed, includeUsage, includeCost, maxTokens, outputField } = format.options(context);
  const tools = body["tools"] !== undefined || body["functions"] !== undefined;
  const promptEstimate = countedOnce(body, promptTokensOf);
  const isUnbounded = maxTokens === null && context.model !== null && needsEstimate(context.model, { inputTokens, tools });
  return {
    body,
    model,
    requested,
    streamed,
    includeUsage,
    includeCost,
    maxTokens,
    ...(outputField && { outputField }),
    ...(promptField !== "messages" && { promptField }),
    ...(clientPath && { clientPath }),
    tools,
    inputTokens,
    promptEstimate,
    ...(isUnbounded && { promptTokens: promptEstimate() }),
    ...(routing !== null && { routing: { ...routing, bodies: new Map([[model, body]]) } }),
  };
}

/** Adds the fields that the model takes. @throws GatewayError when one is not valid for it */
function withFields(body: ChatBody, fields: readonly ChatField[], context: ReadContext): ChatBody {
  for (const field of fields) {
    const value = readField(context.request[field.name], field.name, field, context);
    if (value === undefined) continue;
    if (field.needs) requireSupport(field.needs, field.name, context);
    body[field.name] = value;
  }
  return body;
}

const outputFields = ["max_completion_tokens", "max_tokens"] as const;

function tableOptions(request: JsonObject, maxTokensDefault: number | null): RequestOptions {
  const includeCost = isOn(request["usage"], "include");
  const outputField = outputFields.find((name) => typeof request[name] === "number");
  return {
    streamed: request["stream"] === true,
    includeUsage: includeCost || isOn(request["stream_options"], "include_usage"),
    includeCost,
    maxTokens: numberOrNull(outputField && request[outputField]) ?? maxTokensDefault,
    outputField,
  };
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
): Promise<CheckedPrompt> {
  const read = readRequest(bytes);
  const chat = await withFurtherModels(checkParsed(read, format, options), { ...options, format, read });
  return { chat, format: format.answer({ ...read, chat }) };
}

interface FurtherModels {
  find(id: string): Model | null;
  clock: Clock;
  format: RequestFormat;
  read: Reading;
}

/**
 * Adds the bodies of the further models. Models with equal rules share the work, and other work runs between two bodies, since a request
 * may be large and name eight models.
 * @throws GatewayError whose message names the model that does not support a field
 */
async function withFurtherModels(chat: CheckedChat, { find, clock, format, read }: FurtherModels): Promise<CheckedChat> {
  const { routing, maxTokens, tools } = chat;
  if (routing === undefined || routing.models.length === 1) return chat;
  const yielder = new EventLoopYielder(clock);
  const byRules = new Map([[rulesOf(find(chat.model), maxTokens, format), chat.body]]);
  const bodies = new Map(routing.bodies);
  let { inputTokens } = chat;
  for (const { id } of routing.models.slice(1)) {
    const model = find(id);
    const permitted = permittedModel(model, routing);
    if (permitted?.routes.length === 0) continue;
    await yielder.yieldIfDue();
    const rules = rulesOf(model, maxTokens, format);
    const shared = byRules.get(rules);
    const body = namingModel(id, () => {
      const own = shared ? { ...shared, model: id } : bodyOf(id, { ...read, model }, format);
      rejectUnsupportedFields(own, permitted, format.clientPath);
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
      promptTokens = Math.max(promptTokens, body === chat.body ? chat.promptEstimate() : promptTokensOf(body));
    }
  }
  return { ...chat, inputTokens, ...(promptTokens > 0 && { promptTokens }), routing: { ...routing, bodies } };
}

/** What decides how a model's body is read. */
function rulesOf(model: Model | null, maxTokens: number | null, format: RequestFormat): string {
  if (model === null) return "";
  const { supports, defaultOnly, maxOutputTokens, refusesForcedTools } = model;
  const isWithin = maxTokens === null || (maxTokens >= outputMinimum(model) && maxTokens <= maxOutputTokens);
  const facts = [
    [...supports].toSorted(),
    [...defaultOnly].toSorted(),
    samplesWithoutReasoning(model),
    takesReasoning(model),
    refusesForcedTools,
    format.rules?.(model),
  ];
  return JSON.stringify([...facts, isWithin || maxOutputTokens]);
}

function namingModel<Result>(id: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message, param } = error.marked;
    throw new GatewayError(error.code, {
      param: param ?? undefined,
      message: error.message.startsWith(`${id} `) ? message : `${message} (model ${asSent(id)})`,
    });
  }
}
