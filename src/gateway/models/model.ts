/** The catalog's words. Read from files by catalog.ts, priced by price.ts, judged by availability.ts. */
import type { PicoUsdPerToken } from "../../kernel/money.ts";

/** The wire formats that a provider of the catalog may have; providers/registry.ts implements them. */
export const wireFormatNames = ["openai", "anthropic", "google", "sandbox"] as const;
export type WireFormatName = (typeof wireFormatNames)[number];

export interface ProviderRecord {
  id: string;
  name: string;
  format: WireFormatName;
  /** Without a trailing slash; the format appends its path. */
  baseUrl: string;
  /** The environment variable that holds our key; null: none is needed. */
  keyEnv: string | null;
  /** Whether a stream that is cancelled is billed no further. */
  cancelStopsBilling: boolean;
  /** false: the provider refuses `stream_options` and tells its usage in every stream unasked. */
  streamOptions: boolean;
  zeroDataRetention: boolean;
  termsChecked: boolean;
  subprocessorListed: boolean;
}

/** Pico-USD per token. An absent cache price is the input price. */
export interface Prices {
  input: PicoUsdPerToken;
  output: PicoUsdPerToken;
  cacheRead: PicoUsdPerToken;
  cacheWrite: PicoUsdPerToken;
}

/** One way to have a model answered. */
export interface Route {
  provider: ProviderRecord;
  upstreamModel: string;
  /** null: not priced, hence not callable. */
  prices: Prices | null;
  /** Tokens of a prompt that the provider adds itself; null: the default of price.ts. */
  hiddenInputTokens: number | null;
  /** What the provider calls the bound on output tokens. */
  maxTokensField: MaxTokensField;
  /** Names this way of calling this model: a launch check counts for the entry that it called, and for no later one. */
  entry: string;
}

export type MaxTokensField = "max_tokens" | "max_completion_tokens";

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
  /** Weights of the model, told of the service's own lineup only. */
  parameters: number | null;
  /** In order of preference; the first is listed. Empty for the service's own lineup. */
  routes: Route[];
  listedAs: ListedAs;
  /** Unpublished models are never listed or served. */
  published: boolean;
  /** Words of docs/inference.md such as "tools" and "json_schema". */
  supports: ReadonlySet<string>;
  /** It may think before it answers: its provider bills thoughts, and need not deliver them. */
  reasons: boolean;
  /** Request fields whose default value is the only one that the model takes. */
  defaultOnly: ReadonlySet<string>;
  /** Prices shown where no route has any (Zero: 0). */
  listPrices: Prices | null;
}

export interface Catalog {
  /** Digest of the files: an admission names the catalog that it believed in. */
  version: string;
  models: ReadonlyMap<string, Model>;
  providers: ReadonlyMap<string, ProviderRecord>;
}

export const unavailableReasons = [
  "request_access",
  "coming_soon",
  "no_price",
  "provider_not_configured",
  "terms_not_checked",
  "launch_check_missing",
  "launch_check_failed",
  "zero_data_retention_required",
  "catalog_unreadable",
] as const;
export type UnavailableReason = (typeof unavailableReasons)[number];

/**
 * What a provider told of an answer's tokens; null: it did not tell that side. Nothing of it is charged before
 * `api/call/charged-usage.ts` has held it against what is possible.
 */
export interface ReportedUsage extends Omit<Usage, "promptTokens" | "completionTokens"> {
  promptTokens: number | null;
  completionTokens: number | null;
  /** Tokens of the provider's total that its parts do not explain: reasoning that it did not count apart, or a mistake. Absent: none. */
  unexplainedTokens?: number;
}

/**
 * Token counts of one answer. `cachedTokens` and `cacheWriteTokens` are parts of `promptTokens`;
 * `reasoningTokens` is a part of `completionTokens`, also where a provider counts it outside of its completion tokens.
 */
export interface Usage {
  promptTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
  reasoningTokens: number;
}
