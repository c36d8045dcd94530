/**
 * The models that a request names, and what it needs from them: the id, the kind (chat or embeddings), the words in `supports` that open
 * fields, how its routes' wire formats treat the request; and the fields of routing, `models` and `provider`. A word opens the fields of
 * chat-fields.ts that need it; other fields are open for every model. The table in docs/reference/inference.md is made from the words
 * (scripts/inference-tables.ts). A model that is not in the catalog passes every check here. Check 4 refuses it. Models and rules of
 * routing are checked against the catalog, not against what can be called at the moment: a request that no route could ever serve is 400,
 * one that none serves now is left to check 4. The order in which routes serve is in models/candidate-order.ts and call/route-plan.ts.
 */
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { asSent, GatewayError, invalidRequest, unsupportedParameter } from "../../../kernel/errors.ts";
import { nearest } from "../../../kernel/text.ts";
import { modelIdCharactersMax, routingModelsMax, routingProvidersMax } from "../../limits.ts";
import { isPermitted, routeSorts, type RoutingRules } from "../../models/candidate-order.ts";
import { embeddingWords } from "../../models/catalog-entry.ts";
import type { Model, WireFormatName, ProviderRecord } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { pathText, readPathText, type FieldPath } from "../../providers/provider-error.ts";
import { wireFormats } from "../../providers/registry.ts";
import { added, anyString, listOf, objectOf, oneOf, truncated, unknownField, type Field } from "./read-value.ts";

interface SupportFacts {
  /** The values or fields that it opens within other fields. */
  opensWithin?: string | readonly string[];
  /** A stronger word that opens the same fields: a model that follows a schema writes JSON, and functions are the older form of tools. */
  impliedBy?: string;
  /** The behaviour without it. */
  without: string;
}

export const supportWords = {
  tools: { without: "refused" },
  custom_tools: { opensWithin: "tools[].custom", without: "refused" },
  functions: { impliedBy: "tools", without: "refused" },
  json_object: { opensWithin: "response_format.type=json_object", impliedBy: "json_schema", without: "refused" },
  json_schema: { opensWithin: "response_format.type=json_schema", without: "refused" },
  reasoning: { without: "refused" },
  reasoning_content: {
    opensWithin: "messages[].reasoning_content",
    without: "sent on if the model reasons",
  },
  thought_signatures: {
    opensWithin: "messages[].tool_calls[].id",
    without: "the signature in an id is left out",
  },
  verbosity: { without: "refused" },
  penalties: { without: "refused" },
  seed: { without: "refused" },
  logit_bias: { without: "refused" },
  logprobs: { without: "refused" },
  cache_control: { opensWithin: ["messages[].content[].cache_control", "tools[].cache_control"], without: "refused" },
  prediction: { without: "refused" },
} as const satisfies Record<string, SupportFacts>;

export type SupportWord = keyof typeof supportWords;

/** Every word that a model of the catalog may have. */
export const catalogWords: ReadonlySet<string> = new Set([...Object.keys(supportWords), ...embeddingWords]);

export function factsOf(word: SupportWord): SupportFacts {
  return supportWords[word];
}

/** Also true if the model is not in the catalog or not a chat model: a later check answers that. */
export function supports(model: Model | null, word: SupportWord): boolean {
  if (model === null || model.kind !== "chat" || model.supports.has(word)) return true;
  const { impliedBy } = factsOf(word);
  return impliedBy !== undefined && model.supports.has(impliedBy);
}

/**
 * The id of a model, which need not be in the catalog.
 * @param at the path of the field, as `param` shows it
 * @throws GatewayError invalid_request, or unsupported_parameter for a custom model
 */
export function readModelId(value: unknown, at: string): string {
  if (value === undefined) throw invalidRequest(at, `${at} is required`);
  if (typeof value !== "string" || value === "") throw invalidRequest(at, `${at} must be the id of a model`);
  if (value.length > modelIdCharactersMax)
    throw invalidRequest(at, `${at} must not be longer than ${modelIdCharactersMax} characters`);
  if (value.startsWith("custom:")) throw unsupportedParameter(at, "A custom model cannot be used with an API key");
  return value;
}

/**
 * The catalog's id of what clients of Messages and Responses call a model: they may leave out its maker, and some add a suffix for a long
 * context.
 */
export function catalogId(requested: string, find: (id: string) => Model | null): string {
  const plain = requested.replace(/\[1m\]$/, "");
  const known = [requested, plain].flatMap((id) => [id, `anthropic/${id}`, `openai/${id}`]).find((id) => find(id) !== null);
  return known ?? requested;
}

/**
 * Checks that an endpoint serves this kind of model. A model that is not in the catalog, or answers without a model, is refused by a later
 * check.
 * @throws GatewayError invalid_request for a model of the other kind
 */
export function requireKind(model: Model | null, kind: "chat" | "embeddings"): void {
  if (model === null || model.kind === kind || model.kind === "none") return;
  const message =
    model.kind === "embeddings"
      ? `${model.id} is an embeddings model: send it to /embeddings`
      : `${model.id} is a chat model and has no embeddings`;
  throw invalidRequest("model", message);
}

/** Notes the model, which the catalog has, with the error of a request. */
export function ofModel<Result>(model: Pick<Model, "id"> | null, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError) error.model = model?.id ?? null;
    throw error;
  }
}

// Wire formats

/**
 * Every route must support the request, since any of them may serve it.
 * @param clientPath of the request's format
 * @throws GatewayError unsupported_parameter with `param`
 */
export function rejectUnsupportedFields(
  body: ChatBody,
  model: Pick<Model, "routes"> | null,
  clientPath?: (body: ChatBody, path: FieldPath) => FieldPath | null,
): void {
  for (const format of formatsOf(model)) {
    const unsupportedField = wireFormats[format]?.format.unsupportedField?.(body);
    if (!unsupportedField) continue;
    const { sent = "" } = unsupportedField;
    const marked = (text: string): string => (sent === "" ? text : text.replaceAll(sent, () => asSent(sent)));
    const [param, message] = [marked(unsupportedField.param), marked(unsupportedField.message)];
    if (clientPath === undefined) throw unsupportedParameter(param, message);
    const path = clientPath(body, readPathText(unsupportedField.param));
    const named = path === null ? undefined : pathText(path);
    const told = named === undefined ? message : message.replaceAll(param, () => named);
    throw new GatewayError("unsupported_parameter", { param: named, message: told });
  }
}

/** What any of the routes may add to the request's own texts, in bytes, as `inputTokensBound` counts. */
export function addedBytes(body: ChatBody, model: Pick<Model, "routes"> | null): number {
  return Math.max(0, ...[...formatsOf(model)].map((format) => wireFormats[format]?.format.addedBytes?.(body) ?? 0));
}

/** Each once, in the order of the routes. */
function formatsOf(model: Pick<Model, "routes"> | null): ReadonlySet<WireFormatName> {
  return new Set(model?.routes.map(({ format }) => format));
}

// Routing. If it is off for the workspace, its fields are refused

/** The catalog as check 2 sees it. */
export interface RoutingCatalog {
  /** A published model; null: the catalog does not have it, which a later check refuses. */
  find(id: string): Model | null;
  /** By id; null: the catalog cannot be read, which a later check refuses. */
  providers: ReadonlyMap<string, ProviderRecord> | null;
}

export interface RoutingFields {
  rules: RoutingRules;
  /** The ids of the request's models in their order, without repeats; at least one. `field` is where the request names it. */
  models: readonly { id: string; field: string }[];
}

const providerFields = ["order", "only", "ignore", "sort"];

export const routingFields: readonly string[] = ["models", "provider"];

/** Whether the workspace has routing on. */
export function isRoutingOn({ earlyAccess }: { earlyAccess: readonly string[] }): boolean {
  return earlyAccess.includes("routing");
}

/** The first routing field that a request has; null: it has none. */
export function routingFieldOf(request: JsonObject): string | null {
  if (request["models"] != null) return "models";
  const provider = request["provider"];
  if (provider == null) return null;
  const first = isJsonObject(provider) ? providerFields.find((field) => provider[field] != null) : undefined;
  return first === undefined ? "provider" : `provider.${first}`;
}

/**
 * Reads the routing fields of a request to any endpoint of the chat pipeline.
 * @param model the request's `model`, already checked
 * @param catalog null: routing is off
 * @returns null: the request has no such field
 * @throws GatewayError unsupported_parameter or invalid_request with `param`
 */
export function readRouting(request: JsonObject, model: string, catalog: RoutingCatalog | null): RoutingFields | null {
  const field = routingFieldOf(request);
  if (field === null) return null;
  if (catalog === null) throw unsupportedParameter(field, `${field} needs routing, which is not available for this workspace`);
  const models = readModels(request["models"], model, catalog);
  const rules = readRules(request["provider"], catalog);
  requireRoute({ models, rules }, catalog);
  return { models, rules };
}

/** The model with only the routes that the request lets serve; null: the catalog does not have it. */
export function permittedModel(model: Model | null, { rules }: RoutingFields): Pick<Model, "routes"> | null {
  return model && { routes: model.routes.filter((route) => isPermitted(route, rules)) };
}

function readModels(value: unknown, model: string, { find }: RoutingCatalog): RoutingFields["models"] {
  const fields = new Map([[model, "model"]]);
  if (value == null) return [{ id: model, field: "model" }];
  if (!Array.isArray(value)) throw invalidRequest("models", "models must be an array");
  if (value.length < 1 || value.length > routingModelsMax)
    throw invalidRequest("models", `models must have 1 to ${routingModelsMax} items`);
  for (const [index, item] of value.entries()) {
    const field = `models[${index}]`;
    const id = readModelId(item, field);
    const kind = find(id)?.kind ?? "chat";
    if (kind !== "chat") throw invalidRequest(field, `${field} must be the id of a chat model, and ${id} is none`);
    if (!fields.has(id)) fields.set(id, field);
  }
  return [...fields].map(([id, field]) => ({ id, field }));
}

function readRules(value: unknown, { providers }: RoutingCatalog): RoutingRules {
  if (value == null) return { order: [], only: null, ignore: new Set(), sort: null };
  if (!isJsonObject(value)) throw invalidRequest("provider", "provider must be an object");
  const order = readProviders(value["order"], "provider.order", providers);
  const only = readProviders(value["only"], "provider.only", providers);
  const ignore = readProviders(value["ignore"], "provider.ignore", providers);
  const sort = readSort(value["sort"]);
  for (const name of Object.keys(value)) if (!providerFields.includes(name)) throw unknownField(`provider.${truncated(name)}`);
  return { order: order ?? [], only: only && new Set(only), ignore: new Set(ignore), sort };
}

/** null: the field is absent. */
function readProviders(value: unknown, at: string, providers: RoutingCatalog["providers"]): string[] | null {
  if (value == null) return null;
  if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be an array`);
  if (value.length > routingProvidersMax) throw invalidRequest(at, `${at} must not have more than ${routingProvidersMax} items`);
  return value.map((id: unknown, index) => {
    const field = `${at}[${index}]`;
    if (typeof id !== "string") throw invalidRequest(field, `${field} must be the id of a provider`);
    if (providers === null || providers.has(id)) return id;
    const similar = nearest(id, [...providers.keys()]);
    const hint = similar === undefined ? "" : `; the nearest id is ${similar}`;
    throw invalidRequest(field, `${field}: there is no provider with the id ${truncated(id)}${hint}`);
  });
}

function readSort(value: unknown): RoutingRules["sort"] {
  const at = "provider.sort";
  if (value == null) return null;
  if (isJsonObject(value)) throw unsupportedParameter(at, `${at}: an object is not supported, only a word`);
  const sort = routeSorts.find((word) => word === value);
  if (sort === undefined) throw invalidRequest(at, `${at} must be one of ${routeSorts.map((word) => `"${word}"`).join(", ")}`);
  return sort;
}

/** Refuses rules that leave none of the routes that the catalog has, whether these can be used now or not. */
function requireRoute({ models, rules }: RoutingFields, { find }: RoutingCatalog): void {
  const routes = models.flatMap(({ id }) => find(id)?.routes ?? []);
  if (routes.length === 0 || routes.some((route) => isPermitted(route, rules))) return;
  const field = rules.only === null ? "provider.ignore" : "provider.only";
  throw invalidRequest(field, `${field} leaves no provider of ${models.map(({ id }) => asSent(id)).join(", ")}`);
}

const providerIds = listOf(anyString, 0, routingProvidersMax);
const providerObject = objectOf({
  order: added(providerIds, "Ids of the providers to prefer, in this order; the others follow"),
  only: added(providerIds, "Ids of the only providers that may serve"),
  ignore: added(providerIds, "Ids of providers that may not serve; wins over `only` and `order`"),
  sort: added(oneOf(...routeSorts), "The figure of GET /models by which providers are sorted that `order` does not name"),
});

/** The fields' schemas, from which the OpenAPI description is made. */
export const routingSchema: readonly (readonly [name: string, field: Field])[] = [
  ["models", added(listOf(anyString, 1, routingModelsMax), "Further models, which serve in this order where `model` does not")],
  ["provider", added(providerObject, "Which providers may serve, and in which order")],
];
