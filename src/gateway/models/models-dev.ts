/**
 * Reads an api.json of models.dev (https://github.com/anomalyco/models.dev, packages/core/src/schema.ts): providers by id, each with its
 * models by id. Only the fields that the catalog uses are checked; a model without them is left out and counted. From here on a price is
 * decimal text, as in the catalog's files.
 */
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isJsonObject } from "../../http/json.ts";
import { formatPricePerMillion, parsePricePerMillion } from "../../kernel/money.ts";
import type { PricesEntry, TierEntry } from "./schema.ts";

const Usd = Type.Number({ minimum: 0, maximum: 1_000_000 });
const Tokens = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const cost = { input: Usd, output: Usd, cache_read: Type.Optional(Usd), cache_write: Type.Optional(Usd) };

const DevModel = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.String({ minLength: 1 }),
  reasoning: Type.Boolean(),
  tool_call: Type.Boolean(),
  structured_output: Type.Optional(Type.Boolean()),
  temperature: Type.Optional(Type.Boolean()),
  release_date: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
  modalities: Type.Object({ output: Type.Array(Type.String()) }),
  limit: Type.Object({ context: Tokens, output: Tokens }),
  cost: Type.Optional(
    Type.Object({
      ...cost,
      tiers: Type.Optional(Type.Array(Type.Object({ ...cost, tier: Type.Object({ size: Tokens }) }), { maxItems: 8 })),
      /** The form of older files: one tier above 200,000 tokens. */
      context_over_200k: Type.Optional(Type.Object(cost)),
    }),
  ),
});
type DevModel = Static<typeof DevModel>;

const check = TypeCompiler.Compile(DevModel);

/** A chat model of a provider, with prices. */
export interface ListedModel {
  upstreamModel: string;
  name: string;
  contextLength: number;
  maxOutputTokens: number;
  prices: PricesEntry;
  /** Ascending; empty: none. */
  tiers: TierEntry[];
  tools: boolean;
  structuredOutput: boolean;
  reasons: boolean;
  /** False: it takes only the default temperature. */
  temperature: boolean;
  /** As `2026-01-31`; null: not known to the day. */
  released: string | null;
}

export interface ListedProvider {
  /** Keyed by upstream model. */
  models: Map<string, ListedModel>;
  /** Upstream models that the list calls deprecated. */
  deprecated: Set<string>;
  /** Upstream models without the needed fields, without a price or bounds, or that answer no text. */
  unusable: Set<string>;
}

/** @throws Error when the value is not of the shape */
export function readModelsDev(value: unknown): Map<string, ListedProvider> {
  if (!isJsonObject(value)) throw new Error("it is not an object of providers by id");
  const providers = new Map<string, ListedProvider>();
  for (const [id, provider] of Object.entries(value)) {
    const models = isJsonObject(provider) ? provider["models"] : undefined;
    if (!isJsonObject(models)) throw new Error(`provider "${id.slice(0, 100)}" has no object "models"`);
    providers.set(id, readProvider(models));
  }
  return providers;
}

function readProvider(models: Record<string, unknown>): ListedProvider {
  const read: ListedProvider = { models: new Map(), deprecated: new Set(), unusable: new Set() };
  for (const [id, value] of Object.entries(models)) {
    const listed = isDevModel(value) ? listedModel(value) : null;
    if (isDevModel(value) && value.status === "deprecated") read.deprecated.add(id);
    else if (listed === null) read.unusable.add(id);
    else read.models.set(id, listed);
  }
  return read;
}

/** The compiled check guarantees the type. */
function isDevModel(value: unknown): value is DevModel {
  return check.Check(value);
}

function listedModel(model: DevModel): ListedModel | null {
  const { cost: costs, limit } = model;
  const isChat = model.modalities.output.includes("text") && !/embed/i.test(model.id);
  if (!isChat || costs === undefined || costs.input === 0 || costs.output === 0) return null;
  if (limit.context === 0 || limit.output === 0) return null;
  return {
    upstreamModel: model.id,
    name: model.name.slice(0, 200),
    contextLength: limit.context,
    maxOutputTokens: outputBound(limit),
    prices: pricesOf(costs),
    tiers: tiersOf(costs),
    tools: model.tool_call,
    structuredOutput: model.structured_output ?? false,
    reasons: model.reasoning,
    temperature: model.temperature ?? true,
    released: /^\d{4}-\d{2}-\d{2}$/.test(model.release_date ?? "") ? (model.release_date ?? null) : null,
  };
}

/**
 * Half of the context where the list gives the context as the output bound too: a request without max_tokens sends the bound, and providers
 * refuse a prompt and a bound that together exceed the context.
 */
function outputBound({ context, output }: DevModel["limit"]): number {
  return output < context ? output : Math.floor(context / 2);
}

type Costs = NonNullable<DevModel["cost"]>;

/** Without tiers that change no price. */
function tiersOf(costs: Costs): TierEntry[] {
  const older = costs.context_over_200k ? [{ ...costs.context_over_200k, tier: { size: 200_000 } }] : [];
  let before = pricesOf(costs);
  return (costs.tiers ?? older)
    .toSorted((one, other) => one.tier.size - other.tier.size)
    .map(({ tier, ...prices }) => ({ above_input_tokens: tier.size, ...pricesOf(prices) }))
    .filter(({ above_input_tokens, ...prices }) => {
      const rises = above_input_tokens > 0 && JSON.stringify(prices) !== JSON.stringify(before);
      if (rises) before = prices;
      return rises;
    });
}

function pricesOf({ input, output, cache_read, cache_write }: Pick<Costs, keyof PricesEntry>): PricesEntry {
  return {
    input: price(input),
    output: price(output),
    ...(cache_read !== undefined && { cache_read: price(cache_read) }),
    ...(cache_write !== undefined && { cache_write: price(cache_write) }),
  };
}

/** JSON has numbers; from here on a price is decimal text, as in the catalog's files. */
function price(usd: number): string {
  return formatPricePerMillion(parsePricePerMillion(usd.toFixed(6)));
}
