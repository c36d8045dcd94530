/**
 * Views of usage: sums by period and by key, member, model, provider or endpoint, and one sum of the rows that are not listed. The
 * descriptions of the fields are those of the OpenAPI description.
 */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";

export const usagePeriods = ["hour", "day", "month"] as const;
export type UsagePeriod = (typeof usagePeriods)[number];
export const usageDimensions = ["key", "member", "model", "provider", "endpoint"] as const;
export type UsageDimension = (typeof usageDimensions)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const UsageSums = Type.Object({
  requests: count("Requests that were accepted"),
  errors: count("The part of the requests whose status was 400 or above; 499: the client disconnected"),
  prompt_tokens: count("Tokens of the requests"),
  cached_tokens: count("The part of the requests' tokens that was read from a provider's cache"),
  cache_write_tokens: count("The part of the requests' tokens that was written to a provider's cache"),
  completion_tokens: count("Tokens of the answers"),
  cost_usd: text("The amount charged, in USD with nine decimals"),
  list_cost_usd: text("What calls with own provider keys would have cost at list prices, in USD with nine decimals"),
});
export type UsageSums = Static<typeof UsageSums>;

const period = {
  period: Type.Optional(text("The hour, day or month in the asked time zone, such as 2026-11-20")),
  starts_at: Type.Optional(text("When the period begins, ISO 8601 in UTC; of the first one, when the asked time begins")),
};

const UsageRow = Type.Composite([
  Type.Object({
    ...period,
    key_id: Type.Optional(textOrNull("The key; null: the Workbench")),
    key_name: Type.Optional(text("The key's present name; `Workbench` for the Workbench")),
    member: Type.Optional(text("The email of the key's owner, or of the member who used the Workbench")),
    model: Type.Optional(text("The model that answered")),
    provider: Type.Optional(text("The provider that answered")),
    endpoint: Type.Optional(text("The endpoint: chat, completions, embeddings, messages or responses")),
  }),
  UsageSums,
]);

const Rest = Type.Composite([Type.Object({ rows: count("How many rows it sums") }), UsageSums]);

export const UsageView = Type.Object({
  from: text("The beginning of the asked time, ISO 8601 in UTC"),
  to: text("Its end, which is not part of it"),
  tz: text("The time zone of periods"),
  data: Type.Array(UsageRow, { description: "The sums, by period and then by cost. Sums without a request are left out" }),
  rest: Type.Union([Rest, Type.Null()], {
    description: "The sum of rows beyond the maximum, the cheapest; null: there are none",
  }),
  periods: Type.Optional(
    Type.Array(Type.Composite([Type.Object(period), UsageSums]), {
      description: "With `series`: the sums of each period, whatever the names",
    }),
  ),
  total: Type.Composite([UsageSums], { description: "The sum of all rows" }),
});
export type UsageView = Static<typeof UsageView>;
