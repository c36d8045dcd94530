/** The computation of a charge, from token counts to the amount in the ledger. */
import type { GenerationDetail, PriceLine } from "../../../gateway/generations/schema.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { markup, type Html } from "../../../http/html.ts";
import { facts } from "../../look/facts.ts";
import { money } from "../../look/money.ts";
import { table } from "../../look/table.ts";
import type { Content } from "../../look/user-text.ts";

const parts: Record<PriceLine["part"], string> = {
  input: "Tokens in",
  cache_read: "Tokens in, read from a cache",
  cache_write: "Tokens in, written to a cache",
  output: "Tokens out",
};

export function priceSection(request: GenerationDetail): Html {
  const { price_lines: lines, tier_above_tokens: tier } = request;
  const tierWords =
    tier === null
      ? null
      : markup`<p>The prompt has more than ${tier.toLocaleString("en-US")} tokens, so that the prices of this tier apply to the whole request.</p>`;
  return markup`${tierWords}${lines === null ? unknownPrices(request) : computation(lines)}${charge(request)}`;
}

function unknownPrices({ exact_cost_usd: exact, list_cost_usd: list }: GenerationDetail): Html {
  if (list === null && /^[0.]+$/.test(exact)) return markup`<p>Nothing was counted that has a price.</p>`;
  return markup`<p>The catalog's present prices do not give this cost: they have changed since, or the model left the catalog.</p>`;
}

function computation(lines: readonly PriceLine[]): Html {
  return table<PriceLine>({
    caption: "Computation of the cost",
    columns: [
      { label: "Part", kind: "text", cell: ({ part }) => parts[part] },
      { label: "Tokens", kind: "number", cell: ({ tokens }) => tokens.toLocaleString("en-US") },
      { label: "USD for a million", kind: "number", cell: ({ usd_per_million: price }) => price },
      { label: "USD", kind: "number", cell: ({ exact_usd: exact }) => exact },
    ],
    rows: lines,
    empty: markup``,
  });
}

/** Twelve decimals. */
function sumOf(lines: readonly PriceLine[]): string {
  const pico = lines.reduce((sum, { exact_usd: exact }) => sum + BigInt(exact.replace(".", "")), 0n);
  const digits = pico.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

type Fact = readonly [name: string, value: Content];

function charge(request: GenerationDetail): Html {
  const { own_key: own, cost_usd: cost, uncharged_usd: uncharged, reserved_usd: reserved } = request;
  const above: Fact[] = parseUsd(uncharged) === 0n ? [] : [["Above the reserved amount, not charged", exactly(uncharged)]];
  const name = own ? "Charged: the provider bills its own key" : "Charged, rounded half up once";
  const charged: Fact = [name, markup`<b>${exactly(cost)}</b> (${money(cost)})`];
  return facts([...exactCost(request), ...above, ["Reserved before the call", exactly(reserved)], charged]);
}

/** An own key's call is charged nothing, so that its lines add up to what it would have cost. */
function exactCost({ list_cost_usd: list, price_lines: lines, exact_cost_usd: exact }: GenerationDetail): Fact[] {
  if (list === null) return [["Exact cost", exactly(exact)]];
  const sum: Fact[] = lines === null ? [] : [["Exact, at list prices", exactly(sumOf(lines))]];
  return [...sum, ["At list prices, rounded half up", exactly(list)]];
}

function exactly(usd: string): Html {
  return markup`<span class="money">${usd} USD</span>`;
}
