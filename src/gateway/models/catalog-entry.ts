/**
 * Converts file entries into the catalog's types, and refuses, naming the field, what the schema cannot express: a tier out of order, a
 * model listed as available without a route or bounds, an embeddings field on a chat model. A route's `entry` is a digest of everything
 * that its call depends on, so a launch check counts only for the call that it made.
 */
import { createHash } from "node:crypto";
import { parsePricePerMillion } from "../../kernel/money.ts";
import { trimmedEnd } from "../../kernel/text.ts";
import { dialectFrom } from "./dialect.ts";
import type {
  Model,
  Prices,
  PriceTier,
  ProviderRecord,
  Route,
  TieredPrices,
  EmbeddingFacts,
  EmbeddingFormatName,
  WireFormatName,
  MaxTokensField,
} from "./model.ts";
import type { ModelEntry, PricesEntry, ProviderEntry, RouteEntry, TierEntry } from "./schema.ts";

export function providerFrom(entry: ProviderEntry): ProviderRecord {
  if (!URL.canParse(entry.base_url)) throw new EntryError("base_url", `"${entry.base_url}" is not a URL`);
  return {
    id: entry.id,
    name: entry.name,
    format: entry.format,
    baseUrl: trimmedEnd(entry.base_url, "/"),
    keyEnv: entry.key_env,
    ...providerEmbeddings(entry),
    cancelStopsBilling: entry.cancel_stops_billing,
    streamOptions: entry.stream_options ?? true,
    dialect: dialectFrom(entry.format, entry.dialect),
    ...(entry.native === true && { native: true as const }),
    zeroDataRetention: entry.zero_data_retention,
    termsChecked: entry.terms_checked,
    subprocessorListed: entry.subprocessor_listed,
    ...(entry.terms !== undefined && { terms: entry.terms }),
    ...(entry.regions && { regions: entry.regions.map(({ name, base_url }) => ({ name, baseUrl: trimmedEnd(base_url, "/") })) }),
  };
}

interface CatalogContext {
  /** The provider of an entry without `routes`: the name of its file. */
  fileProvider: string;
  providers: ReadonlyMap<string, ProviderRecord>;
}

/** @throws EntryError naming the field */
export function modelFrom(entry: ModelEntry, surroundings: CatalogContext): Model {
  const embeddings = embeddingFacts(entry);
  const path = (index: number): string => (entry.routes === undefined ? "" : `routes.${index}.`);
  const routes = routeEntries(entry, surroundings.fileProvider).map((route, index) => ({
    ...routeFrom({ model: entry.id, embeddings }, route, surroundings.providers),
    prices: tieredPrices(route, path(index)),
    ...conversationFacts(entry),
  }));
  const model: Model = {
    id: entry.id,
    name: entry.name,
    kind: entry.kind,
    created: unixSeconds(entry),
    contextLength: entry.context_length ?? 0,
    maxOutputTokens: entry.max_output_tokens ?? 0,
    parameters: entry.parameters ?? null,
    routes,
    listedAs: entry.listed_as,
    published: entry.published,
    supports: new Set(entry.supports),
    reasons: entry.reasons ?? entry.supports.some((word) => word === "reasoning" || word === "reasoning_content"),
    defaultOnly: new Set(entry.default_only),
    ...(entry.forced_tools === false && { refusesForcedTools: true as const }),
    ...(embeddings && { embeddings }),
    listPrices: tieredPrices(entry) ?? routes[0]?.prices ?? null,
  };
  requireCallable(model);
  return model;
}

function routeEntries(entry: ModelEntry, fileProvider: string): RouteEntry[] {
  const { upstream_model, prices_per_1m_usd, tiers, max_tokens_field, format, efforts } = entry;
  // An embeddings model embeds the text as it is.
  const hidden_input_tokens = entry.hidden_input_tokens ?? (entry.kind === "embeddings" ? 0 : undefined);
  // Set on the model, they apply to every route without its own value.
  const shared = {
    ...(hidden_input_tokens !== undefined && { hidden_input_tokens }),
    ...(max_tokens_field !== undefined && { max_tokens_field }),
    ...(format !== undefined && { format }),
    ...(efforts !== undefined && { efforts }),
  };
  if (entry.routes !== undefined) {
    if (upstream_model !== undefined || prices_per_1m_usd !== undefined || tiers !== undefined) {
      throw new EntryError("routes", "replaces upstream_model, prices_per_1m_usd and tiers, so an entry has one or the other");
    }
    return entry.routes.map((route) => ({ ...shared, ...route }));
  }
  if (upstream_model === undefined) return [];
  const priced = { ...(prices_per_1m_usd && { prices_per_1m_usd }), ...(tiers && { tiers }) };
  return [{ provider: fileProvider, upstream_model, ...shared, ...priced }];
}

function routeFrom(
  { model, embeddings }: Pick<CalledEntry, "model" | "embeddings">,
  entry: RouteEntry,
  providers: ReadonlyMap<string, ProviderRecord>,
): Omit<Route, "prices"> {
  const provider = providers.get(entry.provider);
  if (!provider) throw new EntryError("provider", `there is no provider "${entry.provider}" in providers.json`);
  if (embeddings && !provider.embeddings) throw new EntryError("provider", `"${provider.id}" has no embeddings`);
  const maxTokensField = entry.max_tokens_field ?? "max_tokens";
  const format = routeFormat(entry.format, provider, embeddings);
  return {
    provider,
    format,
    upstreamModel: entry.upstream_model,
    hiddenInputTokens: entry.hidden_input_tokens ?? null,
    maxTokensField,
    ...(entry.efforts && { efforts: entry.efforts }),
    entry: entryDigest({ model, provider, format, upstreamModel: entry.upstream_model, maxTokensField, embeddings }),
  };
}

/** The sandbox runs inside the process. It alone has the sandbox format, and it has no other. */
function routeFormat(
  own: RouteEntry["format"],
  provider: ProviderRecord,
  embeddings: CalledEntry["embeddings"],
): Route["format"] {
  if (own === undefined) return provider.format;
  if (embeddings) throw new EntryError("format", "is of chat completions; an embeddings model has its provider's embeddings");
  if ((own === "sandbox") !== (provider.format === "sandbox")) {
    throw new EntryError("format", `"${own}" is not spoken by "${provider.id}", whose format is "${provider.format}"`);
  }
  return own;
}

/**
 * @param path leads to the fields in messages, such as `routes.1.`
 * @returns null: not priced
 */
function tieredPrices(
  { prices_per_1m_usd, tiers }: Pick<RouteEntry, "prices_per_1m_usd" | "tiers">,
  path = "",
): TieredPrices | null {
  if (prices_per_1m_usd !== undefined) {
    return { ...pricesFrom(prices_per_1m_usd), ...(tiers && { tiers: tiersFrom(tiers, `${path}tiers`) }) };
  }
  if (tiers === undefined) return null;
  throw new EntryError(`${path}tiers`, "need prices_per_1m_usd, the prices of a prompt within the first bound");
}

function pricesFrom(entry: PricesEntry): Prices {
  const input = parsePricePerMillion(entry.input);
  return {
    input,
    output: parsePricePerMillion(entry.output),
    cacheRead: entry.cache_read === undefined ? input : parsePricePerMillion(entry.cache_read),
    cacheWrite: entry.cache_write === undefined ? input : parsePricePerMillion(entry.cache_write),
  };
}

function tiersFrom(entries: TierEntry[], path: string): PriceTier[] {
  let before = 0;
  return entries.map((entry, index) => {
    const aboveInputTokens = entry.above_input_tokens;
    if (aboveInputTokens <= before) {
      throw new EntryError(`${path}.${index}.above_input_tokens`, `is not above ${before}, the bound of the tier before it`);
    }
    before = aboveInputTokens;
    return { aboveInputTokens, ...pricesFrom(entry) };
  });
}

function conversationFacts(entry: ModelEntry): Pick<Route, "thinking" | "lateInstructions" | "samplesWithoutReasoning"> {
  const { thinking: form, thinking_off: off = "disabled" } = entry;
  return {
    ...(form !== undefined && { thinking: { form, off, isBound: entry.thinking_bound ?? false } }),
    ...(entry.late_instructions === true && { lateInstructions: true as const }),
    ...(entry.samples_without_reasoning === true && { samplesWithoutReasoning: true as const }),
  };
}

function unixSeconds(entry: ModelEntry): number {
  const day = entry.released ?? entry.seen;
  if (day === undefined) return 0;
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms)) throw new EntryError("released", `"${day}" is not a day`);
  return ms / 1_000;
}

/** A model listed as available needs a route and bounds, since reservations are computed from them. */
function requireCallable(model: Model): void {
  if (model.listedAs !== "available") return;
  if (model.routes.length === 0)
    throw new EntryError("upstream_model", "is required for a model listed as available, unless it has routes");
  if (model.contextLength === 0) throw new EntryError("context_length", "is required for a model listed as available");
  if (model.kind === "chat" && model.maxOutputTokens === 0) {
    throw new EntryError("max_output_tokens", "is required for a model listed as available");
  }
  const providers = model.routes.map((route) => route.provider.id);
  if (new Set(providers).size < providers.length) throw new EntryError("routes", "name a provider twice");
}

// Embeddings models

/**
 * The words that an embeddings model may have in `supports`: it takes token ids as input, and its vectors depend on `input_type`.
 * docs/reference/inference.md explains them.
 */
export const embeddingWords = ["token_input", "input_type"] as const;
export type EmbeddingWord = (typeof embeddingWords)[number];

/** Whether a request may ask for vectors of this length. */
export function allowsDimensions(
  { allowedDimensions: allowed }: Pick<EmbeddingFacts, "allowedDimensions">,
  asked: number,
): boolean {
  if (allowed === null) return false;
  return "min" in allowed ? asked >= allowed.min && asked <= allowed.max : allowed.includes(asked);
}

/** The embeddings format for each chat format; Anthropic has none. */
const formatOf: Partial<Record<WireFormatName, EmbeddingFormatName>> = {
  openai: "openai",
  "openai-responses": "openai",
  google: "google",
  sandbox: "openai",
};

function providerEmbeddings({ format, base_url, embeddings }: ProviderEntry): Pick<ProviderRecord, "embeddings"> {
  const name = embeddings?.format ?? formatOf[format];
  if (name === undefined) return {};
  const baseUrl = embeddings?.base_url ?? base_url;
  if (!URL.canParse(baseUrl)) throw new EntryError("embeddings.base_url", `"${baseUrl}" is not a URL`);
  return { embeddings: { format: name, baseUrl: trimmedEnd(baseUrl, "/") } };
}

/**
 * The facts of an embeddings model; undefined for another kind, and for a model that is only announced.
 * @throws EntryError for fields that the kind does not have, or that contradict each other
 */
function embeddingFacts(entry: ModelEntry): EmbeddingFacts | undefined {
  if (entry.kind !== "embeddings") {
    for (const field of ["dimensions", "max_inputs", "normalize"] as const) {
      if (entry[field] !== undefined) throw new EntryError(field, `is only for embeddings models, and this one is ${entry.kind}`);
    }
    return undefined;
  }
  requireEmbeddingFields(entry);
  const { dimensions, max_inputs: inputsMax, normalize = false } = entry;
  if (dimensions === undefined || inputsMax === undefined) {
    if (entry.listed_as !== "available") return undefined;
    const missing = dimensions === undefined ? "dimensions" : "max_inputs";
    throw new EntryError(missing, "is required for an embeddings model listed as available");
  }
  const allowedDimensions = dimensions.allowed ?? null;
  const facts = { dimensions: dimensions.default, allowedDimensions, inputsMax, normalize };
  if (allowedDimensions !== null && !allowsDimensions(facts, dimensions.default)) {
    throw new EntryError("dimensions.default", "is not among the allowed dimensions");
  }
  return facts;
}

function requireEmbeddingFields(entry: ModelEntry): void {
  if (entry.routes !== undefined) {
    throw new EntryError(
      "routes",
      "are refused for an embeddings model: two providers may pool or scale its vectors differently",
    );
  }
  if (entry.max_output_tokens !== null)
    throw new EntryError("max_output_tokens", "must be null: an embeddings model writes none");
  const output = entry.prices_per_1m_usd?.output;
  if (output !== undefined && Number(output) !== 0) {
    throw new EntryError("prices_per_1m_usd.output", "must be 0: an embeddings model writes no tokens");
  }
  const known: readonly string[] = embeddingWords;
  const word = entry.supports.find((one) => !known.includes(one));
  if (word !== undefined) throw new EntryError("supports", `has "${word}", which is no word of embeddings models`);
}

// What a launch check covered

/** An entry that matches the schema and is still invalid. */
export class EntryError extends Error {
  override name = "EntryError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

interface CalledEntry {
  model: string;
  provider: ProviderRecord;
  format: WireFormatName;
  upstreamModel: string;
  maxTokensField: MaxTokensField;
  /** Absent: it is not an embeddings model. */
  embeddings?: EmbeddingFacts | undefined;
}

/**
 * A digest of everything that decides whether a call works: provider, format, address, key and model name. Prices and limits are left
 * out, since a changed price needs no new launch check.
 */
function entryDigest({ model, provider, format, upstreamModel, maxTokensField, embeddings }: CalledEntry): string {
  const facts = [model, provider.id, format, provider.baseUrl, provider.keyEnv, upstreamModel, maxTokensField];
  // The check compares the vector's length.
  const called = embeddings && [provider.embeddings?.format, provider.embeddings?.baseUrl, embeddings.dimensions];
  return createHash("sha256")
    .update(JSON.stringify(called ? [...facts, ...called] : facts))
    .digest("hex")
    .slice(0, 32);
}
