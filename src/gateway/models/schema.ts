/**
 * The files of a catalog folder: providers.json and models/<provider>.json. Unknown fields are refused, since a mistyped price field would
 * otherwise be ignored. What a schema cannot say is checked in catalog-entry.ts. catalog-data/README.md explains each field.
 */
import { embeddingFormatNames, reasoningEfforts, wireFormatNames } from "./model.ts";
import { Type, type Static } from "@sinclair/typebox";
import { embeddingInputsMax } from "../limits.ts";
import { DialectEntry, Day, Source, strict } from "./dialect.ts";

/** USD per 1M tokens: a decimal number with at most six decimals, as text. */
const Price = Type.String({ pattern: "^\\d{1,9}(\\.\\d{1,6})?$" });
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const Text = Type.String({ minLength: 1, maxLength: 200 });
const BaseUrl = Type.String({ pattern: "^https?://[^\\s/]" });
const ProviderId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" });

export const PricesEntry = strict({
  input: Price,
  output: Price,
  /** Absent: the input price. */
  cache_read: Type.Optional(Price),
  cache_write: Type.Optional(Price),
});
export type PricesEntry = Static<typeof PricesEntry>;

/** Prices of the whole request once its prompt, cached tokens included, has more tokens than this. */
export const TierEntry = strict({
  above_input_tokens: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  ...PricesEntry.properties,
});
export type TierEntry = Static<typeof TierEntry>;

const WireFormat = Type.Union(wireFormatNames.map((name) => Type.Literal(name)));

/** Fields of a single route, or of each entry of `routes`. */
const routeFields = {
  upstream_model: Text,
  /** The wire format of this model's chat completions. Absent: the provider's. */
  format: Type.Optional(WireFormat),
  /** Absent: not priced, so not callable. */
  prices_per_1m_usd: Type.Optional(PricesEntry),
  /** Ascending. Absent: one price, however long the prompt is. */
  tiers: Type.Optional(Type.Array(TierEntry, { minItems: 1, maxItems: 8 })),
  /** Tokens of a prompt that the provider adds. Absent: 64, with tools 1,024. */
  hidden_input_tokens: Type.Optional(Count),
  /** The provider's field name for the bound on output tokens. Absent: max_tokens. */
  max_tokens_field: Type.Optional(Type.Union([Type.Literal("max_tokens"), Type.Literal("max_completion_tokens")])),
  /** The efforts that it takes; another becomes the next lower, else the lowest. Absent: all that its wire format has. */
  efforts: Type.Optional(
    Type.Array(Type.Union(reasoningEfforts.map((effort) => Type.Literal(effort))), { minItems: 1, uniqueItems: true }),
  ),
};

/** Where a price was read. */
const citation = {
  source: Type.Optional(Source),
  /** A second source with the same price. Absent: there is none, and `note` says why the price stands. */
  checked_with: Type.Optional(Source),
  /** Which source was taken, and why, where sources differ or where there is only one. */
  note: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
};

export const RouteEntry = strict({ provider: ProviderId, ...routeFields, ...citation });
export type RouteEntry = Static<typeof RouteEntry>;

const Dimensions = Type.Integer({ minimum: 1, maximum: 65_536 });

const DimensionsEntry = strict({
  /** The length of a vector if the request does not say. */
  default: Dimensions,
  /** What a request may ask for: these values, or all of a range. Absent: nothing, since the length is fixed. */
  allowed: Type.Optional(
    Type.Union([Type.Array(Dimensions, { minItems: 1, uniqueItems: true }), strict({ min: Dimensions, max: Dimensions })]),
  ),
});

const ModelId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._:/-]*$", maxLength: 200 });

export const ModelEntry = strict({
  id: ModelId,
  name: Text,
  kind: Type.Union([Type.Literal("chat"), Type.Literal("embeddings"), Type.Literal("none")]),
  /** null: not announced; not allowed for an available model. */
  context_length: Type.Union([Count, Type.Null()]),
  max_output_tokens: Type.Union([Count, Type.Null()]),
  ...routeFields,
  /** Absent if the entry has `routes`, and for models that no provider serves yet. */
  upstream_model: Type.Optional(Text),
  /** Several routes in order of preference, in place of a single one. */
  routes: Type.Optional(Type.Array(RouteEntry, { minItems: 1 })),
  listed_as: Type.Union([Type.Literal("available"), Type.Literal("request_access"), Type.Literal("coming_soon")]),
  published: Type.Boolean(),
  /**
   * Another name of the same model at the same provider, which has the same words, bounds and prices. Absent: the id without the date at
   * its end, if there is such a model; null: none.
   */
  alias_of: Type.Optional(Type.Union([ModelId, Type.Null()])),
  /** Support words; the table of docs/reference/inference.md shows the request fields that each word allows. */
  supports: Type.Array(Type.String({ pattern: "^[a-z][a-z0-9_]*$" })),
  /**
   * The model may reason before it answers. Its provider bills reasoning tokens and may not deliver them, so its streams are read to
   * their end after the client disconnects. Absent: true if it supports reasoning or reasoning_content.
   */
  reasons: Type.Optional(Type.Boolean()),
  /** Fields that the model accepts only with their default value, and answers with 400 otherwise. */
  default_only: Type.Optional(
    Type.Array(Type.Union([Type.Literal("temperature"), Type.Literal("top_p")]), { uniqueItems: true }),
  ),
  /**
   * true: a model in a format of OpenAI that takes `temperature` and `top_p` only with the effort none: they are not sent with another.
   * With `default_only` too, the model reasons unless the request says otherwise, and they are refused unless the effort is none. Absent: false.
   */
  samples_without_reasoning: Type.Optional(Type.Boolean()),
  /**
   * How a model in Anthropic's format thinks: it decides itself by the effort, or takes a number of tokens. Absent: like adaptive, but it
   * may continue its own last message, and the next two fields are not read.
   */
  thinking: Type.Optional(Type.Union([Type.Literal("adaptive"), Type.Literal("budget")])),
  /** What switches its thinking off. Absent: disabled. */
  thinking_off: Type.Optional(Type.Union([Type.Literal("disabled"), Type.Literal("between_tools"), Type.Literal("never")])),
  /** true: it refuses a thought if anything before the thought has changed since. Absent: false. */
  thinking_bound: Type.Optional(Type.Boolean()),
  /** true: a model in Anthropic's format takes instructions between the turns of a conversation. Absent: false. */
  late_instructions: Type.Optional(Type.Boolean()),
  /** false: it refuses a tool choice that forces a call. Absent: true. */
  forced_tools: Type.Optional(Type.Boolean()),
  /** Only for embeddings models, and required for an available one, like `max_inputs`. */
  dimensions: Type.Optional(DimensionsEntry),
  /** The most inputs of one request. */
  max_inputs: Type.Optional(Type.Integer({ minimum: 1, maximum: embeddingInputsMax })),
  /** The provider does not scale shortened vectors to length 1: the gateway does. Absent: false. */
  normalize: Type.Optional(Type.Boolean()),
  /** Day of release: the `created` of the API. */
  released: Type.Optional(Day),
  /** Number of weights, only for the service's own models. */
  parameters: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The source of this entry's facts; the price of an entry with `routes` has its sources there. */
  ...citation,
  /** The day on which the sources were read. */
  seen: Type.Optional(Day),
});
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelsFile = Type.Array(ModelEntry);

export const ProviderEntry = strict({
  id: ProviderId,
  name: Text,
  format: WireFormat,
  base_url: BaseUrl,
  /** The environment variable with the service's key; null: the provider needs none. */
  key_env: Type.Union([Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.Null()]),
  /** How its embeddings are called. Absent: in its own format, at its own address. */
  embeddings: Type.Optional(
    strict({
      format: Type.Union(embeddingFormatNames.map((name) => Type.Literal(name))),
      base_url: Type.Optional(BaseUrl),
    }),
  ),
  cancel_stops_billing: Type.Boolean(),
  /** false: the provider refuses `stream_options` and always reports usage in streams. Absent: true. */
  stream_options: Type.Optional(Type.Boolean()),
  /** How it deviates from its wire format. */
  dialect: Type.Optional(DialectEntry),
  /** true: its API is the one that its wire format is named after, so a client's request to that API is not converted. Absent: false. */
  native: Type.Optional(Type.Boolean()),
  zero_data_retention: Type.Boolean(),
  /** A responsible person has read the provider's terms and confirmed that this service may forward requests to it. */
  terms_checked: Type.Boolean(),
  /** The provider is in the service's public list of subprocessors. */
  subprocessor_listed: Type.Boolean(),
  /** The address of the provider's terms. */
  terms: Type.Optional(Source),
  /** Addresses of the vendor whose keys this one refuses, such as of another country: they tell a wrong key from one of another region. */
  regions: Type.Optional(Type.Array(strict({ name: Text, base_url: BaseUrl, source: Source, seen: Day }), { minItems: 1 })),
  /** Its name in models.dev, for `weir model import`. Absent: its id. */
  models_dev: Type.Optional(ProviderId),
  source: Type.Optional(Source),
  seen: Type.Optional(Day),
});
export type ProviderEntry = Static<typeof ProviderEntry>;

export const ProvidersFile = Type.Array(ProviderEntry);
