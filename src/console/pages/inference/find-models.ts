/**
 * The filters of the list of models, from the address, and the search over names, ids and bounds. Words that find nothing get suggestions.
 * It searches the list that the page has read, since the catalog is small.
 */
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import type { Html } from "../../../http/html.ts";
import { parsePricePerMillion, type PicoUsdPerToken } from "../../../kernel/money.ts";
import { nearest } from "../../../kernel/text.ts";
import { type Choice, filterForm, type Filter } from "../../look/forms.ts";
import { shortTokens } from "./model-cells.ts";

export interface ModelQuery {
  /** By the names of the query. */
  given: Record<(typeof names)[number], string>;
  wanted: Wanted;
  /** What is wrong with a given value; null: nothing. */
  problem: string | null;
  /** From 1. */
  page: number;
}

const names = ["q", "provider", "kind", "supports", "callable", "price", "context", "sort"] as const;
const contexts = [32_000, 128_000, 200_000, 400_000, 1_000_000];
const wordsMax = 100;

/** What people choose a model for, by the words of `supports`. */
const abilities = { tools: "Tools", json_schema: "JSON schema", reasoning: "Reasoning", cache_control: "Prompt cache" };

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
    supports: of("supports"),
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
      supports: Object.hasOwn(abilities, given.supports) ? given.supports : "",
      callable: given.callable === "yes" || given.callable === "no" ? given.callable : "",
      priceMax: priceMax ?? null,
      contextMin: /^\d{1,9}$/.test(given.context) ? Number(given.context) : 0,
      order: orders.find((order) => order === given.sort) ?? "callable",
    },
    problem: priceMax === undefined ? `“${given.price}” is not a price: write an amount of USD such as 2.50.` : null,
    page: /^[1-9]\d{0,3}$/.test(query.get("page") ?? "") ? Number(query.get("page")) : 1,
  };
}

export function modelFilters(path: string, { given }: ModelQuery, models: readonly ModelDetails[]): Html {
  const filters: Filter[] = [
    { name: "q", label: "Name", kind: "text", value: given.q, charactersMax: wordsMax },
    choice("provider", "Provider", given.provider, [["", "All"], ...providers(models)]),
    {
      ...choice("kind", "Kind", given.kind, [
        ["", "All"],
        ["chat", "Chat"],
        ["embeddings", "Embeddings"],
      ]),
      isFurther: true,
    },
    choice("supports", "Supports", given.supports, [["", "Anything"], ...Object.entries(abilities)]),
    choice("callable", "Availability", given.callable, [
      ["", "All"],
      ["yes", "Callable"],
      ["no", "Not callable"],
    ]),
    { name: "price", label: "Input up to, USD", kind: "text", value: given.price, charactersMax: 20, isFurther: true },
    {
      ...choice("context", "Context from", given.context, [
        ["", "Any"],
        ...contexts.map((size): [string, string] => [String(size), shortTokens(size)]),
      ]),
      isFurther: true,
    },
    choice(
      "sort",
      "Sorted by",
      given.sort === "callable" ? "" : given.sort,
      orders.map((order) => [order === "callable" ? "" : order, orderWords[order]]),
    ),
  ];
  return filterForm({ path, filters });
}

/** null: no price is given; undefined: the text is not a price. */
function priceOf(text: string): PicoUsdPerToken | null | undefined {
  if (text === "") return null;
  try {
    return parsePricePerMillion(text.replace(/^\$/, ""));
  } catch {
    return undefined;
  }
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

// Chooses and sorts models by the words and bounds of a query.

const orders = ["callable", "price", "output", "context", "latency", "uptime", "newest"] as const;
type Order = (typeof orders)[number];

export interface Wanted {
  /** All of them must occur in the id, the name or the provider. */
  words: string;
  /** Id of a provider; empty: any. */
  provider: string;
  kind: "" | "chat" | "embeddings";
  /** A word of `supports`; empty: any model. */
  supports: string;
  callable: "" | "yes" | "no";
  /** The highest price of an input token; null: any price. */
  priceMax: PicoUsdPerToken | null;
  /** In tokens; 0: any. */
  contextMin: number;
  order: Order;
}

export function findModels(all: readonly ModelDetails[], wanted: Wanted): ModelDetails[] {
  return all.filter((model) => isWanted(model, wanted)).toSorted(comparing(wanted.order));
}

/** More edits make a different name, not a typing error. */
const editsMax = 4;
const lettersOfAnEdit = 4;
const nearestMax = 3;

/** The models that mistyped words probably mean, the nearest first. Punctuation and spaces are ignored. */
export function nearestModels(words: string, all: readonly ModelDetails[]): ModelDetails[] {
  const meant = squeezed(words);
  const byName = new Map<string, ModelDetails>();
  for (const model of all) for (const name of namesOf(model)) if (!byName.has(name)) byName.set(name, model);
  const edits = Math.min(editsMax, Math.ceil(meant.length / lettersOfAnEdit));
  const found = new Set<ModelDetails>();
  while (found.size < nearestMax) {
    const name = nearest(meant, [...byName.keys()], edits);
    const model = name === undefined ? undefined : byName.get(name);
    if (name === undefined || !model) break;
    found.add(model);
    byName.delete(name);
  }
  return [...found];
}

function isWanted(model: ModelDetails, { words, provider, kind, supports, callable, priceMax, contextMin }: Wanted): boolean {
  if (provider !== "" && !providersOf(model).includes(provider)) return false;
  if (kind !== "" && (model.kind ?? "chat") !== kind) return false;
  if (supports !== "" && !model.supports.includes(supports)) return false;
  if (callable !== "" && model.runnable !== (callable === "yes")) return false;
  if (contextMin > 0 && (model.context_length ?? 0) < contextMin) return false;
  const price = inputPrice(model);
  if (priceMax !== null && (price === null || price > priceMax)) return false;
  return hasWords(model, words);
}

/** `gpt5` finds `gpt-5`: punctuation between letters and digits is ignored. */
function hasWords(model: ModelDetails, words: string): boolean {
  if (words === "") return true;
  const text = plain([model.id, model.name, ...model.routes.map(({ provider_name: name }) => name)].join(" "));
  return words.split(/\s+/).every((word) => text.includes(plain(word)));
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N} ]+/gu, "");
}

function providersOf({ provider, routes }: ModelDetails): string[] {
  return routes.length === 0 ? [provider] : routes.map((route) => route.provider);
}

/** null: not priced. */
function inputPrice({ prices_per_1m_usd: prices }: ModelDetails): PicoUsdPerToken | null {
  return prices === null ? null : parsePricePerMillion(prices.input);
}

function outputPrice({ prices_per_1m_usd: prices }: ModelDetails): PicoUsdPerToken | null {
  return prices === null ? null : parsePricePerMillion(prices.output);
}

type Compare = (one: ModelDetails, other: ModelDetails) => number;

/** Models that compare equal keep the catalog's order. */
function comparing(order: Order): Compare {
  const byOrder: Record<Order, Compare> = {
    callable: (one, other) => Number(other.runnable) - Number(one.runnable),
    price: ascending(inputPrice),
    output: ascending(outputPrice),
    context: descending(({ context_length: tokens }) => tokens),
    latency: ascending(({ latency_ms: ms }) => ms),
    uptime: descending(({ uptime_percent: percent }) => percent),
    newest: descending(({ created }) => created || null),
  };
  return byOrder[order];
}

/** Unknown values come last, in both directions. */
function ascending(of: (model: ModelDetails) => number | bigint | null): Compare {
  return (one, other) => {
    const [first, second] = [of(one), of(other)];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return first < second ? -1 : first > second ? 1 : 0;
  };
}

function descending(of: (model: ModelDetails) => number | null): Compare {
  return ascending((model) => {
    const value = of(model);
    return value === null ? null : -value;
  });
}

/** Its id with and without the maker, and its display name. */
function namesOf({ id, name }: ModelDetails): string[] {
  return [id, id.slice(id.indexOf("/") + 1), name].map(squeezed);
}

function squeezed(text: string): string {
  return plain(text).replaceAll(" ", "");
}
