/** The models of this process: the catalog's models, and which of them can be called now. */
import { availabilityOf, type Availability } from "./availability.ts";
import type { OwnKeys } from "./own-keys/own-routes.ts";
import type { Catalog, Model, Route, UnavailableReason } from "./model.ts";
import { nearestModel } from "./nearest-model.ts";
import { watchCatalog, type WatchOptions } from "./watch-catalog.ts";
import { watchLaunchChecks, type LaunchCheckSources } from "./watch-launch-checks.ts";

export interface ModelsOptions extends WatchOptions, LaunchCheckSources {
  /** The service's key for a provider, by the name in its `key_env`. */
  providerKey(name: string): unknown;
}

/** A workspace's requirements for its providers. */
export interface WorkspaceRequirements extends OwnKeys {
  zeroDataRetention: boolean;
  /** The features in early access that it has. */
  earlyAccess: readonly string[];
}

export interface Models extends Disposable {
  /** False until a valid catalog has been read: every model is then `catalog_unreadable`. */
  readable(): boolean;
  /** null while there is none. */
  catalog(): Catalog | null;
  /** The problem of the present files; null: none. */
  problem(): string | null;
  /** A published model. */
  find(id: string): Model | null;
  /** The published model that an unknown id probably means; null: none is near enough. */
  nearest(id: string): string | null;
  /** All published models, in the order of the files. */
  list(): Model[];
  availability(model: Model, demands: WorkspaceRequirements): Availability;
  /** Routes without another obstacle than the launch check, with any result of it. */
  checkable(model: Model): Route[];
  /** Checkable routes whose check has not run yet or is requested again. */
  pendingChecks(model: Model): Route[];
  /** The routes that may serve, or the reason why there is none. */
  usableRoutes(model: Model, demands: WorkspaceRequirements): { routes: Route[]; reason: UnavailableReason | null };
  /** Reads the launch checks again, for example after one has run in this process. */
  refreshChecks(): Promise<void>;
}

/** Launch checks precede every workspace's wishes. */
const everyFeature: WorkspaceRequirements = { zeroDataRetention: false, earlyAccess: ["embeddings"] };

/** Reads catalog and launch checks, and refreshes them until disposed. Never rejects for invalid files or an unreachable database. */
export async function openModels(options: ModelsOptions): Promise<Models> {
  const catalog = await watchCatalog(options);
  const checks = await watchLaunchChecks(options);
  const published = (model: Model | undefined): Model | null => (model?.published ? model : null);
  const availability = (
    model: Model,
    { zeroDataRetention, earlyAccess, ownKeys, ownKeyFallback }: WorkspaceRequirements,
  ): Availability =>
    availabilityOf(model, {
      providerKey: options.providerKey,
      checks: checks.current(),
      zeroDataRetention,
      earlyAccess,
      ownKeys,
      ownKeyFallback,
    });
  const checkable = (model: Model): Route[] => model.routes.filter((route) => isCheckable(model, route));
  const isCheckable = (model: Model, route: Route): boolean => {
    const { runnable, reason } = availability({ ...model, routes: [route] }, everyFeature);
    const decided = runnable || reason === "launch_check_failed" || reason === "launch_check_missing";
    return decided && route.provider.format !== "sandbox";
  };
  return {
    readable: () => catalog.current() !== null,
    catalog: () => catalog.current(),
    problem: () => catalog.problem(),
    find: (id) => published(catalog.current()?.models.get(id)),
    nearest: (id) => nearestModel(id, catalog.current()?.models.values() ?? []),
    list: () => [...(catalog.current()?.models.values() ?? [])].filter((model) => model.published),
    availability,
    checkable,
    pendingChecks: (model) => checkable(model).filter(({ entry }) => checks.current().get(entry)?.requested ?? true),
    usableRoutes: availability,
    refreshChecks: () => checks.refresh(),
    [Symbol.dispose]() {
      catalog[Symbol.dispose]();
      checks[Symbol.dispose]();
    },
  };
}
