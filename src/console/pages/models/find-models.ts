/** Chooses and sorts models by the words and bounds of a query. */
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import { nearest } from "../../../kernel/text.ts";
import { parsePricePerMillion, type PicoUsdPerToken } from "../../../kernel/money.ts";

export const orders = ["callable", "price", "output", "context", "latency", "uptime", "newest"] as const;
export type Order = (typeof orders)[number];

export interface Wanted {
  /** All of them must occur in the id, the name or the provider. */
  words: string;
  /** Id of a provider; empty: any. */
  provider: string;
  kind: "" | "chat" | "embeddings";
  callable: "" | "yes" | "no";
  /** Of tokens of a request; null: any. */
  priceMax: PicoUsdPerToken | null;
  /** In tokens; 0: any. */
  contextMin: number;
  order: Order;
}

export function findModels(all: readonly ModelDetails[], wanted: Wanted): ModelDetails[] {
  return all.filter((model) => isWanted(model, wanted)).toSorted(comparing(wanted.order));
}

function isWanted(model: ModelDetails, { words, provider, kind, callable, priceMax, contextMin }: Wanted): boolean {
  if (provider !== "" && !providersOf(model).includes(provider)) return false;
  if (kind !== "" && (model.kind ?? "chat") !== kind) return false;
  if (callable !== "" && model.runnable !== (callable === "yes")) return false;
  if (contextMin > 0 && (model.context_length ?? 0) < contextMin) return false;
  const price = inputPrice(model);
  if (priceMax !== null && (price === null || price > priceMax)) return false;
  return hasWords(model, words);
}

/** `gpt5` finds `gpt-5`: marks between letters and digits do not count. */
function hasWords(model: ModelDetails, words: string): boolean {
  if (words === "") return true;
  const text = plain([model.id, model.name, ...model.routes.map(({ provider_name: name }) => name)].join(" "));
  return words.split(/\s+/).every((word) => text.includes(plain(word)));
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N} ]+/gu, "");
}

export function providersOf({ provider, routes }: ModelDetails): string[] {
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

/** The catalog's own order among equals. */
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

/** What is not known comes last, in both directions. */
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

/** More edits make another name, not a typing error; one edit for so many letters. */
const editsMax = 4;
const lettersOfAnEdit = 4;
const nearestMax = 3;

/** The models that mistyped words probably mean, the nearest first. Marks and spaces do not count. */
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

/** Its id with and without the maker, and its display name. */
function namesOf({ id, name }: ModelDetails): string[] {
  return [id, id.slice(id.indexOf("/") + 1), name].map(squeezed);
}

function squeezed(text: string): string {
  return plain(text).replaceAll(" ", "");
}
