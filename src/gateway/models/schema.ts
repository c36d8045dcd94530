/**
 * The files of a catalog folder: providers.json and models/<provider>.json. Unknown fields are refused, for a mistyped price
 * would otherwise be charged as another one. catalog-data/README.md tells in prose what each field means.
 */
import { wireFormatNames } from "./model.ts";
import { Type, type Static, type TProperties } from "@sinclair/typebox";

/** USD per 1M tokens: a decimal number with at most six decimals, as text. */
const Price = Type.String({ pattern: "^\\d{1,9}(\\.\\d{1,6})?$" });
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const Text = Type.String({ minLength: 1, maxLength: 200 });
const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const Source = Type.String({ pattern: "^https://" });
const ProviderId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" });

export const PricesEntry = strict({
  input: Price,
  output: Price,
  /** Absent: the input price. */
  cache_read: Type.Optional(Price),
  cache_write: Type.Optional(Price),
});
export type PricesEntry = Static<typeof PricesEntry>;

/** What a route says of itself, alone or within `routes`. */
const routeFields = {
  upstream_model: Text,
  /** Absent: not priced, hence not callable. */
  prices_per_1m_usd: Type.Optional(PricesEntry),
  /** Tokens of a prompt that the provider adds. Absent: 64, with tools 1,024. */
  hidden_input_tokens: Type.Optional(Count),
  /** What the provider calls the bound on output tokens. Absent: max_tokens. */
  max_tokens_field: Type.Optional(Type.Union([Type.Literal("max_tokens"), Type.Literal("max_completion_tokens")])),
};

export const RouteEntry = strict({ provider: ProviderId, ...routeFields, source: Type.Optional(Source) });
export type RouteEntry = Static<typeof RouteEntry>;

export const ModelEntry = strict({
  id: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._:/-]*$", maxLength: 200 }),
  name: Text,
  kind: Type.Union([Type.Literal("chat"), Type.Literal("embeddings"), Type.Literal("none")]),
  /** null: not announced; not allowed where the model is available. */
  context_length: Type.Union([Count, Type.Null()]),
  max_output_tokens: Type.Union([Count, Type.Null()]),
  ...routeFields,
  /** Absent where `routes` stand, and on models that nobody serves yet. */
  upstream_model: Type.Optional(Text),
  /** Several ways to have the model answered, in order of preference, in place of the single one. */
  routes: Type.Optional(Type.Array(RouteEntry, { minItems: 1 })),
  listed_as: Type.Union([Type.Literal("available"), Type.Literal("request_access"), Type.Literal("coming_soon")]),
  published: Type.Boolean(),
  /** The table of docs/inference.md tells which request fields each word opens. */
  supports: Type.Array(Type.String({ pattern: "^[a-z][a-z0-9_]*$" })),
  /**
   * The model may think before it answers, which its provider bills and may not deliver: its streams are read to their end although
   * their client has left. Absent: true where it supports reasoning or reasoning_content.
   */
  reasons: Type.Optional(Type.Boolean()),
  /** Fields that the model takes with their default value alone, and answers 400 to otherwise. */
  default_only: Type.Optional(
    Type.Array(Type.Union([Type.Literal("temperature"), Type.Literal("top_p")]), { uniqueItems: true }),
  ),
  /** Day of release: the `created` of the API. */
  released: Type.Optional(Day),
  /** Number of weights, told of the service's own lineup. */
  parameters: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Where the facts of this entry were read, and on which day. */
  source: Type.Optional(Source),
  seen: Type.Optional(Day),
});
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelsFile = Type.Array(ModelEntry);

export const ProviderEntry = strict({
  id: ProviderId,
  name: Text,
  format: Type.Union(wireFormatNames.map((name) => Type.Literal(name))),
  base_url: Type.String({ pattern: "^https?://[^\\s/]" }),
  /** The environment variable that holds our key; null: the provider takes none. */
  key_env: Type.Union([Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.Null()]),
  cancel_stops_billing: Type.Boolean(),
  /** false: the provider refuses `stream_options` and tells its usage in every stream unasked. Absent: true. */
  stream_options: Type.Optional(Type.Boolean()),
  zero_data_retention: Type.Boolean(),
  /** Somebody answerable has read the provider's terms and found that this service may pass requests on to it. */
  terms_checked: Type.Boolean(),
  /** The provider stands in the service's public list of subprocessors. */
  subprocessor_listed: Type.Boolean(),
  /** Where the provider's terms stand, for whoever is to check them. */
  terms: Type.Optional(Source),
  source: Type.Optional(Source),
  seen: Type.Optional(Day),
});
export type ProviderEntry = Static<typeof ProviderEntry>;

export const ProvidersFile = Type.Array(ProviderEntry);

function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}
