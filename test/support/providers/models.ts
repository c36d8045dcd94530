/** Models and routes for tests that need no files. */
import { modelFrom, providerFrom } from "../../../src/gateway/models/catalog-entry.ts";
import type { Model, ProviderRecord, Route } from "../../../src/gateway/models/model.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { stubModel, stubProvider } from "./stub-catalog.ts";

export function aProvider(entry: Partial<ProviderEntry> = {}): ProviderRecord {
  return providerFrom(stubProvider(entry));
}

/** `stub/model` with changes; every provider of its routes exists and has the facts in `provider`. */
export function aModel(entry: Partial<ModelEntry> = {}, provider: Partial<ProviderEntry> = {}): Model {
  const ids = ["stub", ...(entry.routes ?? []).map((route) => route.provider)];
  const providers = new Map(ids.map((id) => [id, aProvider({ ...provider, id })]));
  return modelFrom(stubModel(entry), { fileProvider: "stub", providers });
}

/** The only route of `stub/model`. */
export function aRoute(provider: Partial<ProviderEntry> = {}, entry: Partial<ModelEntry> = {}): Route {
  const [route] = aModel(entry, provider).routes;
  if (!route) throw new Error("The model of the test has no route");
  return route;
}
