/**
 * Counts models, providers and sources, for `weir catalog check`: how many models lack only a key and a launch check to be callable, and
 * what supports each price. It judges nothing: catalog-check.ts does that.
 */
import type { ModelJudgement, JudgedModel } from "./catalog-check.ts";
import type { RouteEntry } from "./schema.ts";

export interface ModelTally {
  models: {
    total: number;
    chat: number;
    embeddings: number;
    /**
     * Published, listed as available, and with a price, bounds and a provider whose wire format is known: only a key and a launch check are
     * missing.
     */
    callable: number;
    /** Served by several providers. */
    several_routes: number;
    /** With prices that rise with the length of the prompt. */
    tiers: number;
  };
  providers: { total: number; serving: number };
  /** Routes by what supports their price: a second source, a note that says why it stands, a single source, or nothing. */
  prices: { checked: number; noted: number; one_source: number; no_source: number };
  /** Sources by place: a GitHub repository, a package, or a site. */
  sources: { place: string; sources: number }[];
}

export function modelTallyOf({ providers, models }: ModelJudgement): ModelTally {
  const number = (holds: (judged: JudgedModel) => boolean): number => models.filter(holds).length;
  const cited = models.flatMap(routesOf);
  const serving = new Set(models.flatMap(({ model }) => model.routes.map((route) => route.provider.id)));
  const routes = (holds: (route: Citation) => boolean): number => cited.filter(holds).length;
  return {
    models: {
      total: models.length,
      chat: number(({ model }) => model.kind === "chat"),
      embeddings: number(({ model }) => model.kind === "embeddings"),
      callable: number(isCallable),
      several_routes: number(({ model }) => model.routes.length > 1),
      tiers: number(({ model }) => model.routes.some(({ prices }) => prices?.tiers !== undefined)),
    },
    providers: { total: providers.length, serving: serving.size },
    prices: {
      checked: routes(({ checked_with }) => checked_with !== undefined),
      noted: routes(({ checked_with, note }) => checked_with === undefined && note !== undefined),
      one_source: routes(
        ({ source, checked_with, note }) => source !== undefined && checked_with === undefined && note === undefined,
      ),
      no_source: routes(({ source, checked_with, note }) => [source, checked_with, note].every((part) => part === undefined)),
    },
    sources: placesOf(cited),
  };
}

type Citation = Pick<RouteEntry, "source" | "checked_with" | "note">;

/** One citation for each route. A model without a route has none. */
function routesOf({ entry }: JudgedModel): Citation[] {
  if (entry.routes !== undefined) return entry.routes;
  return entry.upstream_model === undefined ? [] : [entry];
}

function isCallable({ model }: JudgedModel): boolean {
  const bounded = model.contextLength > 0 && (model.kind !== "chat" || model.maxOutputTokens > 0);
  const priced = model.routes.some(({ prices, provider }) => prices !== null && provider.format !== "sandbox");
  return model.published && model.listedAs === "available" && bounded && priced;
}

function placesOf(cited: readonly Citation[]): ModelTally["sources"] {
  const counts = new Map<string, number>();
  for (const url of cited.flatMap(({ source, checked_with }) => [source ?? [], checked_with ?? []].flat())) {
    const place = placeOf(url);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const places = [...counts].map(([place, sources]) => ({ place, sources }));
  return places.toSorted((one, other) => other.sources - one.sources || (one.place < other.place ? -1 : 1));
}

/** The repository of a GitHub address, the host and package of a registry's page, or the host. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  const [, first = "", second = ""] = pathname.split("/");
  if (host === "github.com") return `${first}/${second}`;
  const named = /^\/(?:package|project)\/((?:@[^/]+\/)?[^/]+)/.exec(pathname);
  return named ? `${host} ${named[1]}` : host;
}
