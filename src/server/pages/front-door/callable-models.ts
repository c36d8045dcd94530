/** How many models a new workspace can call, and what is missing for the others. */
import type { Models } from "../../../gateway/models/models.ts";
import type { Model, UnavailableReason } from "../../../gateway/models/model.ts";

export interface CallableModels {
  callable: number;
  total: number;
  /** The reasons with the number of their models, most first. */
  missing: { reason: UnavailableReason; count: number }[];
  /** A variable that would give a provider's key; null: no key is missing. */
  keyVariable: string | null;
}

type Listed = Pick<Models, "readable" | "catalog" | "list" | "availability">;

/** What a workspace has before anybody changes a setting of it. */
const newWorkspace = { zeroDataRetention: false, earlyAccess: [] };

/** @returns null while no catalog can be read */
export function callableModels(models: Listed): CallableModels | null {
  if (!models.readable()) return null;
  const judged = models.list().map((model) => ({ model, reason: models.availability(model, newWorkspace).reason }));
  const reasons = Map.groupBy(judged, ({ reason }) => reason);
  const missing = [...reasons].flatMap(([reason, { length: count }]) => (reason === null ? [] : [{ reason, count }]));
  const unconfigured = (reasons.get("provider_not_configured") ?? []).map(({ model }) => model);
  return {
    callable: reasons.get(null)?.length ?? 0,
    total: judged.length,
    missing: missing.toSorted((one, other) => other.count - one.count),
    keyVariable: missingVariable(unconfigured, models),
  };
}

/** Of the first provider in the catalog's order, which are the best known. */
function missingVariable(unconfigured: readonly Model[], models: Listed): string | null {
  const missing = new Set(unconfigured.flatMap(({ routes }) => routes.map(({ provider }) => provider.keyEnv)));
  const providers = [...(models.catalog()?.providers.values() ?? [])];
  return providers.find(({ keyEnv }) => keyEnv !== null && missing.has(keyEnv))?.keyEnv ?? null;
}
