/** The filters of the list of models, from the query of its address. */
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import { parsePricePerMillion, type PicoUsdPerToken } from "../../../kernel/money.ts";
import type { Html } from "../../../http/html.ts";
import type { Choice } from "../../look/forms/field.ts";
import { filterForm, type Filter } from "../../look/forms/filter-form.ts";
import { orders, type Order, type Wanted } from "./find-models.ts";
import { shortTokens } from "./model-cells.ts";

export interface ModelQuery {
  /** By the names of the query. */
  given: Record<(typeof names)[number], string>;
  wanted: Wanted;
  /** What was given and is no value; null: all is. */
  problem: string | null;
  /** From 1. */
  page: number;
}

const names = ["q", "provider", "kind", "callable", "price", "context", "sort"] as const;
const contexts = [32_000, 128_000, 200_000, 400_000, 1_000_000];
const wordsMax = 100;

const orderWords: Record<Order, string> = {
  callable: "Callable first",
  price: "Lowest input price",
  output: "Lowest output price",
  context: "Largest context",
  latency: "Fastest first token",
  uptime: "Highest uptime",
  newest: "Newest",
};

export function modelQuery(query: URLSearchParams): ModelQuery {
  const of = (name: (typeof names)[number]): string => (query.get(name) ?? "").trim().slice(0, wordsMax);
  const given = {
    q: of("q"),
    provider: of("provider"),
    kind: of("kind"),
    callable: of("callable"),
    price: of("price"),
    context: of("context"),
    sort: of("sort"),
  };
  const priceMax = priceOf(given.price);
  return {
    given,
    wanted: {
      words: given.q,
      provider: given.provider,
      kind: given.kind === "chat" || given.kind === "embeddings" ? given.kind : "",
      callable: given.callable === "yes" || given.callable === "no" ? given.callable : "",
      priceMax: priceMax ?? null,
      contextMin: /^\d{1,9}$/.test(given.context) ? Number(given.context) : 0,
      order: orders.find((order) => order === given.sort) ?? "callable",
    },
    problem: priceMax === undefined ? `“${given.price}” is no price: write an amount of USD such as 2.50.` : null,
    page: /^[1-9]\d{0,3}$/.test(query.get("page") ?? "") ? Number(query.get("page")) : 1,
  };
}

/** null: none is given; undefined: what is given is none. */
function priceOf(text: string): PicoUsdPerToken | null | undefined {
  if (text === "") return null;
  try {
    return parsePricePerMillion(text.replace(/^\$/, ""));
  } catch {
    return undefined;
  }
}

export function modelFilters(path: string, { given }: ModelQuery, models: readonly ModelDetails[]): Html {
  const filters: Filter[] = [
    { name: "q", label: "Name", kind: "text", value: given.q, charactersMax: wordsMax },
    choice("provider", "Provider", given.provider, [["", "All"], ...providers(models)]),
    choice("kind", "Kind", given.kind, [
      ["", "All"],
      ["chat", "Chat"],
      ["embeddings", "Embeddings"],
    ]),
    choice("callable", "Here now", given.callable, [
      ["", "All"],
      ["yes", "Callable"],
      ["no", "Not callable"],
    ]),
    { name: "price", label: "Input up to, USD", kind: "text", value: given.price, charactersMax: 20 },
    choice("context", "Context from", given.context, [
      ["", "Any"],
      ...contexts.map((size): [string, string] => [String(size), shortTokens(size)]),
    ]),
    choice(
      "sort",
      "Sorted by",
      given.sort === "callable" ? "" : given.sort,
      orders.map((order) => [order === "callable" ? "" : order, orderWords[order]]),
    ),
  ];
  return filterForm({ path, filters });
}

function choice(name: string, label: string, value: string, pairs: [string, string][]): Filter {
  const choices: Choice[] = pairs.map(([one, words]) => ({ value: one, label: words }));
  return { name, label, kind: "choice", value, choices };
}

function providers(models: readonly ModelDetails[]): [string, string][] {
  const names = new Map<string, string>();
  for (const { provider, routes } of models) {
    for (const route of routes) names.set(route.provider, route.provider_name);
    if (routes.length === 0) names.set(provider, provider);
  }
  return [...names].toSorted(([, one], [, other]) => one.localeCompare(other, "en"));
}
