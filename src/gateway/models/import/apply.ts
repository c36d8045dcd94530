/** The entries of the catalog's files after the changes of an import. Terms, subprocessor list and data retention are never touched. */
import { otherNameOf } from "../check/aliases.ts";
import type { ModelEntry, RouteEntry } from "../schema.ts";
import type { Change, Priced } from "./compare.ts";
import type { ListedModel } from "./models-dev.ts";

const listUrl = "https://models.dev/api.json";

/** @param day on which the list was read, as `2026-01-31` @returns only the changed files, by name; an empty list: the file goes */
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

/** A model's other names get its new price too, since lists have few of them; a name whose model is gone loses its `alias_of`. */
function withOtherNames(entries: ModelEntry[], changes: readonly Change[], day: string): ModelEntry[] {
  const single = new Set(entries.flatMap(({ id, routes }) => (routes === undefined ? [id] : [])));
  const modelOf = (entry: ModelEntry): string => {
    const other = otherNameOf(entry);
    return other !== null && single.has(other) ? other : entry.id;
  };
  const models = new Map(entries.map((entry) => [entry.id, modelOf(entry)]));
  const listed = new Set(changes.map(({ id }) => id));
  const repriced = new Map<string | undefined, { before: Priced; after: Priced }>();
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

/** One list tells the new price, so a second source that told the old one bears it out no more. */
function priced<Entry extends Pick<RouteEntry, "prices_per_1m_usd" | "tiers" | "source" | "checked_with" | "note">>(
  entry: Entry,
  { before, after }: { before: Priced; after: Priced },
  day: string,
): Entry {
  const { checked_with: _told, tiers: _tiers, ...rest } = entry;
  return {
    ...rest,
    prices_per_1m_usd: after.prices,
    ...(after.tiers.length > 0 && { tiers: after.tiers }),
    source: listUrl,
    note: `Imported on ${day}; before: ${before.prices.input} and ${before.prices.output}`,
  } as Entry;
}

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
