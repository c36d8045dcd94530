/**
 * What an import from models.dev would change in the catalog's files, and the resulting files. The comparison is pure, and nothing is
 * written before an operator has seen it. Then all files are written or none, as far as a file system allows. An import changes prices,
 * adds models of known providers and removes models that are gone. Providers, their terms, the subprocessor list and data retention are a
 * person's decision and never touched. The same holds for a model that the catalog has under another provider.
 */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parsePricePerMillion } from "../../kernel/money.ts";
import { otherNameOf } from "./catalog-check.ts";
import type { ListedModel, ListedProvider } from "./models-dev.ts";
import type { ModelEntry, PricesEntry, ProviderEntry, RouteEntry, TierEntry } from "./schema.ts";

/** The files as they are. */
interface CatalogEntries {
  providers: ProviderEntry[];
  /** By name, such as `openai` for models/openai.json. */
  files: ReadonlyMap<string, ModelEntry[]>;
}

interface Place {
  file: string;
  id: string;
  provider: string;
  upstreamModel: string;
}

export type Change =
  | ({ kind: "added"; listed: ListedModel } & Place)
  | ({ kind: "price_changed"; before: PricesListed; after: PricesListed } & Place)
  /** The list has the provider and not the model, or calls it deprecated. */
  | ({ kind: "gone"; why: "not listed" | "deprecated" } & Place);

export interface PricesListed {
  prices: PricesEntry;
  tiers: TierEntry[];
}

export interface Comparison {
  changes: Change[];
  /** Providers of the catalog that the list does not have: they are not compared. */
  not_listed: string[];
  /** Providers of the list that the catalog does not have: their address and terms are a person's decision. */
  unknown_providers: number;
  /** Models of a compared provider that have an entry already under another provider: a route to them is a person's decision. */
  same_weights: number;
  /** Models of compared providers without a price or bounds. */
  unusable: number;
}

/** @param only the one provider to compare; null: all */
export function compareCatalog(
  catalog: CatalogEntries,
  listed: ReadonlyMap<string, ListedProvider>,
  only: string | null,
): Comparison {
  const compared = catalog.providers.filter(({ id, format }) => format !== "sandbox" && (only === null || id === only));
  const known = new Set(catalog.providers.map(listedAs));
  const taken = new Set([...catalog.files.values()].flat().map(({ id }) => id));
  const result: Comparison = { changes: [], not_listed: [], unknown_providers: 0, same_weights: 0, unusable: 0 };
  result.unknown_providers = [...listed.keys()].filter((id) => !known.has(id)).length;
  for (const provider of compared) {
    const list = listed.get(listedAs(provider));
    if (list === undefined) {
      result.not_listed.push(provider.id);
      continue;
    }
    const routes = routesOf(catalog, provider.id);
    result.unusable += list.unusable.size;
    for (const route of routes) result.changes.push(...changeOf(route, list));
    const served = new Set(routes.map(({ place }) => place.upstreamModel));
    for (const model of list.models.values()) {
      if (served.has(model.upstreamModel)) continue;
      const id = idOf(provider.id, model.upstreamModel);
      if (id === null || taken.has(id)) {
        result.same_weights++;
        continue;
      }
      taken.add(id);
      result.changes.push({
        kind: "added",
        file: provider.id,
        id,
        provider: provider.id,
        upstreamModel: model.upstreamModel,
        listed: model,
      });
    }
  }
  return result;
}

/** The list's name of a provider. */
function listedAs({ id, models_dev }: ProviderEntry): string {
  return models_dev ?? id;
}

interface PlacedRoute {
  place: Place;
  route: Pick<RouteEntry, "prices_per_1m_usd" | "tiers">;
}

function routesOf({ files }: CatalogEntries, provider: string): PlacedRoute[] {
  return [...files].flatMap(([file, entries]) =>
    entries.flatMap((entry) => {
      const single =
        entry.upstream_model === undefined ? [] : [{ ...entry, provider: file, upstream_model: entry.upstream_model }];
      const routes = (entry.routes ?? single).filter((route) => route.provider === provider);
      return routes.map((route) => ({ place: { file, id: entry.id, provider, upstreamModel: route.upstream_model }, route }));
    }),
  );
}

function changeOf({ place, route }: PlacedRoute, list: ListedProvider): Change[] {
  if (list.deprecated.has(place.upstreamModel)) return [{ kind: "gone", why: "deprecated", ...place }];
  const model = list.models.get(place.upstreamModel);
  // The list has it without a price: it is neither changed nor removed.
  if (model === undefined) return list.unusable.has(place.upstreamModel) ? [] : [{ kind: "gone", why: "not listed", ...place }];
  const before = { prices: route.prices_per_1m_usd ?? { input: "0", output: "0" }, tiers: route.tiers ?? [] };
  const after = { prices: model.prices, tiers: model.tiers };
  return samePrices(before, after) ? [] : [{ kind: "price_changed", before, after, ...place }];
}

/** A cache price that only one side gives is not a difference: the catalog has it where two sources do. */
function samePrices(before: PricesListed, after: PricesListed): boolean {
  if (!samePrice(before.prices, after.prices) || before.tiers.length !== after.tiers.length) return false;
  return before.tiers.every((tier, index) => {
    const other = after.tiers[index];
    return other !== undefined && tier.above_input_tokens === other.above_input_tokens && samePrice(tier, other);
  });
}

function samePrice(before: PricesEntry, after: PricesEntry): boolean {
  return (["input", "output", "cache_read", "cache_write"] as const).every((kind) => {
    const [one, other] = [before[kind], after[kind]];
    return one === undefined || other === undefined || parsePricePerMillion(one) === parsePricePerMillion(other);
  });
}

/** `owner/name` as the list has it, or else the provider as owner. @returns null: it cannot be an id of the catalog */
function idOf(provider: string, upstreamModel: string): string | null {
  const [name = "", owner = provider] = upstreamModel.toLowerCase().split("/").toReversed();
  const id = `${owner}/${name}`;
  return id.length <= 200 && /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._:-]*$/.test(id) ? id : null;
}

// The entries after the changes

/** @param day on which the list was read, as `2026-01-31` @returns only the changed files, by name; an empty list: the file is deleted */
export function applyChanges(
  files: ReadonlyMap<string, ModelEntry[]>,
  changes: readonly Change[],
  day: string,
): Map<string, ModelEntry[]> {
  const changed = new Map<string, ModelEntry[]>();
  for (const change of changes) {
    const entries = changed.get(change.file) ?? files.get(change.file) ?? [];
    changed.set(
      change.file,
      change.kind === "added" ? [...entries, newEntry(change.id, change.listed, day)] : replaced(entries, change, day),
    );
  }
  for (const [file, entries] of changed) {
    const ofFile = changes.filter((change) => change.file === file);
    changed.set(file, withOtherNames(entries, ofFile, day));
  }
  return changed;
}

const listUrl = "https://models.dev/api.json";

function newEntry(id: string, model: ListedModel, day: string): ModelEntry {
  return {
    id,
    upstream_model: model.upstreamModel,
    name: model.name,
    kind: "chat",
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    prices_per_1m_usd: model.prices,
    ...(model.tiers.length > 0 && { tiers: model.tiers }),
    listed_as: "available",
    published: true,
    supports: [...(model.tools ? ["tools"] : []), ...(model.structuredOutput ? ["json_object", "json_schema"] : [])],
    ...(model.reasons && { reasons: true }),
    ...(!model.temperature && { default_only: ["temperature" as const, "top_p" as const] }),
    ...(model.released !== null && { released: model.released }),
    source: listUrl,
    note: `Imported on ${day}; only models.dev prices it`,
    seen: day,
  };
}

type ChangeOfARoute = Exclude<Change, { kind: "added" }>;

function replaced(entries: ModelEntry[], change: ChangeOfARoute, day: string): ModelEntry[] {
  return entries.flatMap((entry) => {
    if (entry.id !== change.id) return [entry];
    if (entry.routes === undefined) return change.kind === "gone" ? [] : [priced({ ...entry, seen: day }, change, day)];
    const routes = entry.routes.flatMap((route) => {
      if (route.provider !== change.provider || route.upstream_model !== change.upstreamModel) return [route];
      return change.kind === "gone" ? [] : [priced(route, change, day)];
    });
    return routes.length === 0 ? [] : [{ ...entry, routes }];
  });
}

/** The list gives the new price, so a second source with the old one no longer supports it. */
function priced<Entry extends Pick<RouteEntry, "prices_per_1m_usd" | "tiers" | "source" | "checked_with" | "note">>(
  entry: Entry,
  { before, after }: { before: PricesListed; after: PricesListed },
  day: string,
): Entry {
  const { checked_with: _checked, tiers: _tiers, ...rest } = entry;
  return {
    ...rest,
    prices_per_1m_usd: after.prices,
    ...(after.tiers.length > 0 && { tiers: after.tiers }),
    source: listUrl,
    note: `Imported on ${day}; before: ${before.prices.input} and ${before.prices.output}`,
  } as Entry;
}

/** A model's other names get its new price too, since lists have few of them; a name whose model is gone loses its `alias_of`. */
function withOtherNames(entries: ModelEntry[], changes: readonly Change[], day: string): ModelEntry[] {
  const single = new Set(entries.flatMap(({ id, routes }) => (routes === undefined ? [id] : [])));
  const modelOf = (entry: ModelEntry): string => {
    const other = otherNameOf(entry);
    return other !== null && single.has(other) ? other : entry.id;
  };
  const models = new Map(entries.map((entry) => [entry.id, modelOf(entry)]));
  const listed = new Set(changes.map(({ id }) => id));
  const repriced = new Map<string | undefined, { before: PricesListed; after: PricesListed }>();
  for (const change of changes) {
    if (change.kind === "price_changed" && single.has(change.id)) repriced.set(models.get(change.id), change);
  }
  return entries.map((entry) => {
    const { alias_of, ...alone } = entry;
    const named = typeof alias_of === "string" && !single.has(alias_of) ? alone : entry;
    const follows = single.has(entry.id) && !listed.has(entry.id);
    const change = follows ? repriced.get(modelOf(entry)) : undefined;
    return change === undefined ? named : priced({ ...named, seen: day }, change, day);
  });
}

// Writing: every file is complete before the first is replaced

/** The text of a file of models. */
export function modelsText(entries: readonly ModelEntry[]): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}

/** @param files by name, such as `openai` for models/openai.json; without entries: the file is removed */
export async function writeModelFiles(folder: string, files: ReadonlyMap<string, readonly ModelEntry[]>): Promise<void> {
  const path = (name: string): string => join(folder, "models", `${name}.json`);
  const written = [...files].filter(([, entries]) => entries.length > 0);
  // A name that the service does not read: it reads *.json.
  const partial = (name: string): string => `${path(name)}.${process.pid}.partial`;
  try {
    for (const [name, entries] of written) await writeFile(partial(name), modelsText(entries), { flag: "wx" });
    for (const [name] of written) await rename(partial(name), path(name));
    for (const [name, entries] of files) if (entries.length === 0) await rm(path(name), { force: true });
  } finally {
    for (const [name] of written) await rm(partial(name), { force: true });
  }
}
