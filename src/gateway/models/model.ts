/**
 * The catalog's types: providers, models, routes, prices, and a provider's counts. catalog.ts reads them from files, price.ts computes
 * costs, availability.ts decides what can be called. Prices are pico-USD per token, so that no price is rounded.
 */
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { PicoUsdPerToken } from "../../kernel/money.ts";
import type { Dialect } from "./dialect.ts";

/** The wire formats that a provider of the catalog may have; providers/registry.ts implements them. */
export const wireFormatNames = ["openai", "openai-responses", "anthropic", "google", "sandbox"] as const;
export type WireFormatName = (typeof wireFormatNames)[number];

/** The wire formats of embeddings; providers/embedding-formats.ts implements them. */
export const embeddingFormatNames = ["openai", "google", "cohere", "mistral", "voyage"] as const;
export type EmbeddingFormatName = (typeof embeddingFormatNames)[number];

/** The efforts that a request may ask for, the lowest first. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface ProviderRecord {
  id: string;
  name: string;
  format: WireFormatName;
  /** Without a trailing slash; the format appends its path. */
  baseUrl: string;
  /** The environment variable with the service's key, unless the operator has stored one; null: no key is needed. */
  keyEnv: string | null;
  /** How its embeddings are called. Absent: they are not supported. */
  embeddings?: { format: EmbeddingFormatName; baseUrl: string };
  /** Whether cancelling a stream stops its billing. */
  cancelStopsBilling: boolean;
  /** false: the provider refuses `stream_options` and always reports usage in streams. */
  streamOptions: boolean;
  dialect: Dialect;
  /** It takes every request of its wire format's API, so such a request is not converted. Absent: only what others are known to take. */
  native?: true;
  zeroDataRetention: boolean;
  termsChecked: boolean;
  subprocessorListed: boolean;
  /** The vendor's other addresses, which have other keys. Absent: none is known. */
  regions?: readonly { name: string; baseUrl: string }[];
  /** Where its terms are. Absent: the catalog does not say. */
  terms?: string;
  /** It refused the service's key or account in the last test or call; it is still tried. */
  refused?: true;
  /** The operator has switched it off. */
  disabled?: true;
}

/** Pico-USD per token. An absent cache price is the input price. */
export interface Prices {
  input: PicoUsdPerToken;
  output: PicoUsdPerToken;
  cacheRead: PicoUsdPerToken;
  cacheWrite: PicoUsdPerToken;
}

/** Prices of a whole request whose prompt has more tokens than the bound, as the provider counts them, cached tokens included. */
export interface PriceTier extends Prices {
  aboveInputTokens: number;
}

/** The prices of a request within the first tier's bound, and the tiers in ascending order. Absent: none. */
export interface TieredPrices extends Prices {
  tiers?: readonly PriceTier[];
}

/** A way to serve a model: a provider with its own model name and prices. */
export interface Route {
  provider: ProviderRecord;
  /** The wire format of its chat completions: the provider's, unless the entry has its own. */
  format: WireFormatName;
  upstreamModel: string;
  /** null: not priced, so not callable. */
  prices: TieredPrices | null;
  /** Tokens of a prompt that the provider adds itself; null: the default of price.ts. */
  hiddenInputTokens: number | null;
  /** The provider's field name for the bound on output tokens. */
  maxTokensField: MaxTokensField;
  /** The efforts that it takes. Absent: all that its wire format has. */
  efforts?: readonly ReasoningEffort[];
  /** `temperature` and `top_p` are refused while it reasons. */
  samplesWithoutReasoning?: true;
  /** How the model thinks, in Anthropic's format. Absent: like `adaptive` with every effort, but it may continue its own last message. */
  thinking?: ThinkingFacts;
  /** It takes instructions between the turns. Absent: at the start alone. */
  lateInstructions?: true;
  /** Identifies the call's parameters: a launch check counts only for the entry that it called, not for a changed one. */
  entry: string;
  /** The workspace's own key, which pays for the call; absent: the service's key. */
  ownKey?: OwnKey;
}

interface ThinkingFacts {
  /** It decides itself by the effort, or takes a number of tokens. */
  form: "adaptive" | "budget";
  /** What switches it off: the type `disabled` or `between_tools`, or nothing. */
  off: "disabled" | "between_tools" | "never";
  /** It refuses a thought if anything before the thought has changed since. */
  isBound: boolean;
}

export type MaxTokensField = "max_tokens" | "max_completion_tokens";

/** The vector lengths of an embeddings model, and how many vectors a call may ask for. */
export interface EmbeddingFacts {
  /** The length of a vector if the request does not say. */
  dimensions: number;
  /** The values that a request may ask for; null: none, since the length is fixed. */
  allowedDimensions: readonly number[] | DimensionsRange | null;
  /** The most inputs of one request. */
  inputsMax: number;
  /** The provider does not scale shortened vectors to length 1, so the gateway does. */
  normalize: boolean;
}

/** Both ends included. */
export interface DimensionsRange {
  min: number;
  max: number;
}

export type ListedAs = "available" | "request_access" | "coming_soon";

export interface Model {
  id: string;
  name: string;
  /** none: it answers without a model. */
  kind: "chat" | "embeddings" | "none";
  /** Unix seconds. */
  created: number;
  /** 0: not announced. */
  contextLength: number;
  /** 0: not announced. */
  maxOutputTokens: number;
  /** Number of weights, only for the service's own models. */
  parameters: number | null;
  /** In order of preference; the first is listed. Empty for the service's own models. */
  routes: Route[];
  listedAs: ListedAs;
  /** Unpublished models are never listed or served. */
  published: boolean;
  /** Support words of docs/reference/inference.md, such as "tools" and "json_schema". */
  supports: ReadonlySet<string>;
  /** The model may reason before it answers. Its provider bills reasoning tokens and may not deliver them. */
  reasons: boolean;
  /** Request fields for which the model accepts only the default value. */
  defaultOnly: ReadonlySet<string>;
  /** It refuses a tool choice that forces a call. Absent: it accepts one. */
  refusesForcedTools?: true;
  /** Present for a kind `embeddings` whose facts the catalog has. */
  embeddings?: EmbeddingFacts;
  /** Prices shown if no route has prices (Zero: 0). */
  listPrices: TieredPrices | null;
}

export interface Catalog {
  /** Digest of the files. */
  version: string;
  models: ReadonlyMap<string, Model>;
  providers: ReadonlyMap<string, ProviderRecord>;
}

export const unavailableReasons = [
  "request_access",
  "coming_soon",
  "no_price",
  "provider_disabled",
  "provider_not_configured",
  "terms_not_checked",
  "launch_check_missing",
  "launch_check_failed",
  "zero_data_retention_required",
  "catalog_unreadable",
] as const;
export type UnavailableReason = (typeof unavailableReasons)[number];

/**
 * A provider's token counts for an answer; null: it did not report that count. They are charged only after `api/call/charged-usage.ts` has
 * checked them against what is possible.
 */
export interface ReportedUsage extends Omit<Usage, "promptTokens" | "completionTokens"> {
  promptTokens: number | null;
  completionTokens: number | null;
  /** Tokens of the provider's total that its parts do not include: reasoning without its own count, or a mistake. Absent: none. */
  unexplainedTokens?: number;
}

/**
 * Token counts of one answer. `cachedTokens` and `cacheWriteTokens` are parts of `promptTokens`;
 * `reasoningTokens` is a part of `completionTokens`, even for providers that count it separately.
 */
export interface Usage {
  promptTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
  reasoningTokens: number;
}
