/**
 * Views of usage: sums by period and by key, member, model, provider or endpoint, and one sum of the rows that are not listed; and charts
 * of one measure by period. The descriptions of the fields are those of the OpenAPI description.
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

export const Rest = Type.Composite([Type.Object({ rows: count("How many rows it sums") }), UsageSums]);

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

// Charts

export const chartMeasures = ["spend", "requests", "errors", "tokens", "first_token"] as const;
export type ChartMeasure = (typeof chartMeasures)[number];

const value = (description: string) => Type.Union([Type.String(), Type.Integer(), Type.Null()], { description });
/** Amounts are texts, so that no nano-dollar is lost; counts and milliseconds are numbers. */
export type ChartValue = string | number | null;
const values = Type.Array(value("Of spend an amount in USD with nine decimals; of times null if no answer was timed"), {
  description: "One value for each period",
});

const ChartRow = Type.Object({
  id: text(
    "The key's id or the name; of tokens `uncached`, `cached` or `completion`; of times `p50` or `p95`; empty: the Workbench, or all",
  ),
  name: text("The key's present name, or the id"),
  values: Type.Union([values, Type.Null()], { description: "One value for each period; null: they are among `others`" }),
  total: value("The value of the whole time"),
  sums: Type.Optional(Type.Composite([UsageSums], { description: "All sums of this name, if the measure is not by `code`" })),
});

export const ChartView = Type.Object({
  measure: text("`spend`, `requests`, `errors`, `tokens` or `first_token`"),
  unit: text("`usd`, `requests`, `tokens` or `ms`"),
  from: text("The beginning of the asked time, ISO 8601 in UTC"),
  to: text("Its end, which is not part of it"),
  tz: text("The time zone of periods"),
  step: text("`hour`, `day` or `month`"),
  periods: Type.Array(Type.Required(Type.Object(period)), { description: "All periods of the time, also without a request" }),
  data: Type.Array(ChartRow, { description: "The names, the highest first" }),
  others: Type.Union(
    [Type.Object({ count: count("How many names it sums"), values, total: value("The value of the whole time") }), Type.Null()],
    { description: "The sums of the names without `values`; null: there are none" },
  ),
  rest: Type.Union([Rest, Type.Null()], {
    description: "The sum of names beyond `limit`, which are among `others`; null: there are none",
  }),
  sums: Type.Object(
    { values, total: value("The value of the whole time") },
    { description: "The sums of all names; of times, how many answers were timed" },
  ),
  total: Type.Composite([UsageSums], { description: "All sums of the whole time" }),
  before: Type.Union(
    [
      Type.Object({
        from: text("Its beginning, ISO 8601 in UTC"),
        to: text("Its end"),
        values,
        total: value("The value of the whole time before"),
      }),
      Type.Null(),
    ],
    {
      description:
        "With `before`, the time before: the month before a whole month, else as many days or hours. Of times, the medians",
    },
  ),
  forecast: Type.Union(
    [
      Type.Object({
        total_usd: text("The spend at the end of the month in USD: what was spent so far, and the pace for the rest"),
        usd_a_day: text("The pace in USD: the average of the last seven days, or since the first request if that is later"),
        since: text("Where the pace begins, ISO 8601 in UTC"),
      }),
      Type.Null(),
    ],
    { description: "Of the spend of the current month; else null" },
  ),
});
export type ChartView = Static<typeof ChartView>;
