/**
 * One generation with how its charge came about, line by line. Prices are not kept with charges, so the lines are computed with the
 * catalog's current prices. They are shown only if they give the charged amount: no computation is better than a wrong one.
 */
import type { Caller } from "../../accounts/keys/store.ts";
import type { Queries } from "../../backing/backing.ts";
import {
  formatPicoUsd,
  formatUsd,
  formatPricePerMillion,
  nanoRoundedHalfUp,
  picoCost,
  type NanoUsd,
  type PicoUsdPerToken,
} from "../../kernel/money.ts";
import type { GenerationRow } from "../generation-fields.ts";
import type { Catalog, Prices, TieredPrices } from "../models/model.ts";
import { generationNotFound } from "./generations.ts";
import { type GenerationDetail, viewGeneration, type PriceLine } from "./schema.ts";
import { selectBookedCost } from "./store.ts";

interface Described {
  row: GenerationRow;
  /** undefined: it is unknown. */
  caller: Caller | undefined;
  promptStored: boolean;
  /** null: it cannot be read at present. */
  catalog: Catalog | null;
}

/** One generation with the computation of its charge. @throws DomainError not_found: it was deleted meanwhile */
export async function showGeneration({ row, caller, promptStored, catalog }: Described, sql: Queries): Promise<GenerationDetail> {
  const booked = await selectBookedCost(row.generation, sql);
  if (!booked) throw generationNotFound(row.generation);
  const { outcome, costPico, excess } = booked;
  const amount = row.listCost === null ? { pico: costPico } : { nano: row.listCost };
  return {
    ...viewGeneration(row, caller),
    outcome,
    price_lines: priceLines({ ...row, amount }, catalog),
    exact_cost_usd: formatPicoUsd(costPico),
    uncharged_usd: formatUsd(excess ?? 0n),
    prompt_stored: promptStored,
  };
}

// The computation of a charge

type Counted = Pick<
  GenerationRow,
  "model" | "provider" | "promptTokens" | "cachedTokens" | "cacheWriteTokens" | "completionTokens" | "tierAboveTokens"
>;

interface Booked extends Counted {
  /** The amount that the lines must give, in pico-USD, or rounded where only that is known. */
  amount: { pico: bigint } | { nano: NanoUsd };
}

/** @returns null: the current prices of the route that served do not give the amount */
export function priceLines(booked: Booked, catalog: Catalog | null): PriceLine[] | null {
  const { amount } = booked;
  const routes = catalog?.models.get(booked.model)?.routes.filter(({ provider }) => provider.id === booked.provider) ?? [];
  for (const { prices } of routes) {
    const tier = prices === null ? null : tierWithBound(prices, booked.tierAboveTokens);
    if (tier === null) continue;
    const lines = linesOf(booked, tier);
    const sum = lines.reduce((total, { pico }) => total + pico, 0n);
    if ("pico" in amount ? sum === amount.pico : nanoRoundedHalfUp(sum) === amount.nano) return lines.map(viewLine);
  }
  return null;
}

/** @param bound as the charge has it; null: the base price */
function tierWithBound(prices: TieredPrices, bound: number | null): Prices | null {
  return bound === null ? prices : (prices.tiers?.find(({ aboveInputTokens }) => aboveInputTokens === bound) ?? null);
}

interface Line {
  part: PriceLine["part"];
  tokens: number;
  price: PicoUsdPerToken;
  pico: bigint;
}

/** The classes of `chargedCost`. Those without tokens have no line, except the first. */
function linesOf({ promptTokens, cachedTokens, cacheWriteTokens, completionTokens }: Counted, prices: Prices): Line[] {
  const cacheRead = Math.min(cachedTokens, promptTokens);
  const cacheWrite = Math.min(cacheWriteTokens ?? 0, promptTokens - cacheRead);
  const line = (part: Line["part"], tokens: number, price: PicoUsdPerToken): Line => ({
    part,
    tokens,
    price,
    pico: picoCost(tokens, price),
  });
  return [
    line("input", promptTokens - cacheRead - cacheWrite, prices.input),
    line("cache_read", cacheRead, prices.cacheRead),
    line("cache_write", cacheWrite, prices.cacheWrite),
    line("output", completionTokens, prices.output),
  ].filter(({ part, tokens }) => tokens > 0 || part === "input");
}

function viewLine({ part, tokens, price, pico }: Line): PriceLine {
  return { part, tokens, usd_per_million: formatPricePerMillion(price), exact_usd: formatPicoUsd(pico) };
}
