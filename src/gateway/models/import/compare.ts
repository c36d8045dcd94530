/** What an import would change in the catalog's files. Pure: nothing is written. */
import { parsePricePerMillion } from "../../../kernel/money.ts";
import type { ModelEntry, PricesEntry, ProviderEntry, RouteEntry, TierEntry } from "../schema.ts";
import type { ListedModel, ListedProvider } from "./models-dev.ts";

/** The files as they are. */
export interface CatalogEntries {
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
  | ({ kind: "price_changed"; before: Priced; after: Priced } & Place)
  /** The list has the provider and not the model, or calls it deprecated. */
  | ({ kind: "gone"; why: "not listed" | "deprecated" } & Place);

export interface Priced {
  prices: PricesEntry;
  tiers: TierEntry[];
}

export interface Comparison {
  changes: Change[];
  /** Providers of the catalog that the list does not have: nothing of them is judged. */
  not_listed: string[];
  /** Providers of the list that the catalog does not have: their address and terms are a person's decision. */
  unknown_providers: number;
  /** Models of a compared provider that have an entry already under another provider: a route to them is a person's decision. */
  same_weights: number;
  /** Models of compared providers without a price or bounds. */
  unusable: number;
}

/** @param only compares this provider alone; null: all */
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
  // The list has it, but tells no price: neither a change nor the end of it.
  if (model === undefined) return list.unusable.has(place.upstreamModel) ? [] : [{ kind: "gone", why: "not listed", ...place }];
  const before = { prices: route.prices_per_1m_usd ?? { input: "0", output: "0" }, tiers: route.tiers ?? [] };
  const after = { prices: model.prices, tiers: model.tiers };
  return samePrices(before, after) ? [] : [{ kind: "price_changed", before, after, ...place }];
}

/** A cache price that only one side tells is no difference: the catalog has it where two sources do. */
function samePrices(before: Priced, after: Priced): boolean {
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

/** `owner/name` as the list has it, or else the provider as owner. @returns null: it makes no id of the catalog */
function idOf(provider: string, upstreamModel: string): string | null {
  const [name = "", owner = provider] = upstreamModel.toLowerCase().split("/").toReversed();
  const id = `${owner}/${name}`;
  return id.length <= 200 && /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._:-]*$/.test(id) ? id : null;
}
