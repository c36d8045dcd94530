/**
 * The models of this process: the current catalog, the operator's decisions about its providers, the current launch checks, and which models
 * can be called now, for whom. The catalog's files are read again every few seconds, decisions and launch checks at each notification and
 * regularly, since a notification may be lost. A catalog
 * that is invalid, or a database that does not answer, changes nothing: the last valid state stays. A process can start without a catalog
 * or a database; its models are then `catalog_unreadable` or unchecked, and requests are refused by those reasons. `checkModels` asks the
 * prober for checks and waits for them; models that passed before stay callable meanwhile.
 */
import { isDeepStrictEqual } from "node:util";
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Notification, Bus } from "../../backing/bus.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { sleep, type Clock, withDeadline } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import {
  launchChecksSilenceMsMax,
  launchChecksWaitMs,
  catalogPollMs,
  launchChecksPollMs,
  launchChecksReadMs,
  launchChecksRetryMs,
} from "../limits.ts";
import { availabilityOf, type Availability, nearestModel } from "./availability.ts";
import type { OwnKeys } from "./candidate.ts";
import { decidedCatalog, type KeySource, type ProviderDecisions, ServiceKeys } from "./decisions.ts";
import { parseCatalog, type CatalogOptions, readCatalogFiles } from "./catalog.ts";
import type { Catalog, Model, ProviderRecord, Route, UnavailableReason } from "./model.ts";
import { requestLaunchChecks, readDecisions, readLaunchChecks, type CheckOutcome, type LaunchCheck } from "./store.ts";

interface ModelsOptions extends WatchOptions, StoredSources, KeySource {}

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
  /** The service's key for a provider, for calls; null: there is none, or it takes none. */
  serviceKey(provider: ProviderRecord): Secret | null;
  /** The problem of the current files; null: none. */
  problem(): string | null;
  /** A published model. */
  find(id: string): Model | null;
  /** The published model that an unknown id probably means; null: none is near enough. */
  nearest(id: string): string | null;
  /** All published models, in the order of the files. */
  list(): Model[];
  availability(model: Model, demands: WorkspaceRequirements): Availability;
  /** The last launch check of a route. */
  checkOf(route: Route): LaunchCheck | undefined;
  /** Routes with no obstacle, whatever their launch check says. */
  checkable(model: Model): Route[];
  /** Checkable routes whose check has not run yet or is requested again. */
  pendingChecks(model: Model): Route[];
  /** The routes that may serve, or the reason why there is none. */
  usableRoutes(model: Model, demands: WorkspaceRequirements): { routes: Route[]; reason: UnavailableReason | null };
  /** Reads launch checks and decisions again, for example after one of them changed in this process. */
  refreshChecks(): Promise<void>;
}

/** Launch checks run whatever a workspace requires. */
const everyFeature: WorkspaceRequirements = { zeroDataRetention: false, earlyAccess: ["embeddings"] };

/** Reads catalog and launch checks, and refreshes them until disposed. Never rejects for invalid files or an unreachable database. */
export async function openModels(options: ModelsOptions): Promise<Models> {
  const catalog = await watchCatalog(options);
  const stored = await watchStored(options);
  const keys = new ServiceKeys(options);
  const decided = decidedBy(catalog, stored);
  const published = (model: Model | undefined): Model | null => (model?.published ? model : null);
  const availability = (
    model: Model,
    { zeroDataRetention, earlyAccess, ownKeys, ownKeyFallback }: WorkspaceRequirements,
  ): Availability =>
    availabilityOf(model, {
      providerKey: (provider) => keys.has(provider, stored.decisions().get(provider.id)),
      checks: stored.checks(),
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
    catalog: decided,
    serviceKey: (provider) => keys.of(provider, stored.decisions().get(provider.id)),
    problem: () => catalog.problem(),
    find: (id) => published(decided()?.models.get(id)),
    nearest: (id) => nearestModel(id, decided()?.models.values() ?? []),
    list: () => [...(decided()?.models.values() ?? [])].filter((model) => model.published),
    availability,
    checkable,
    pendingChecks: (model) => checkable(model).filter(({ entry }) => stored.checks().get(entry)?.requested ?? true),
    checkOf: ({ entry }) => stored.checks().get(entry),
    usableRoutes: availability,
    refreshChecks: () => stored.refresh(),
    [Symbol.dispose]() {
      catalog[Symbol.dispose]();
      stored[Symbol.dispose]();
    },
  };
}

/** Decides anew only when the files or the decisions have changed. */
function decidedBy(catalog: CatalogWatch, stored: StoredWatch): () => Catalog | null {
  let known: { files: Catalog; decisions: ProviderDecisions; decided: Catalog } | null = null;
  return () => {
    const [files, decisions] = [catalog.current(), stored.decisions()];
    if (files === null) return null;
    if (known?.files !== files || known.decisions !== decisions) {
      known = { files, decisions, decided: decidedCatalog(files, decisions) };
    }
    return known.decided;
  };
}

// The operator's check

interface CheckSources {
  sql: Queries;
  clock: Clock;
  models: Pick<Models, "checkable" | "refreshChecks">;
  /** Notifies every process. */
  notify(topic: Notification): void;
}

/**
 * Requests launch checks from the prober of the fleet, and waits until they have ended.
 * @param options.chosen models whose routes are checked, except routes with another obstacle
 * @param options.onEnded called with each check when it ends
 * @throws DomainError unavailable when no check ends for longer than one can take: there is no prober
 */
export async function checkModels(
  { chosen, onEnded = () => {} }: { chosen: Model[]; onEnded?: (outcome: CheckOutcome) => void },
  { sql, clock, models, notify }: CheckSources,
): Promise<void> {
  const waiting = new Set(chosen.flatMap((model) => models.checkable(model).map(({ entry }) => entry)));
  await requestLaunchChecks([...waiting], sql);
  notify("checks-changed");
  const lastProgress = { ended: -1, at: clock.monotonic() };
  while (waiting.size > 0) {
    const ended = new Map([...(await readLaunchChecks(sql))].filter(([, { requested }]) => !requested));
    for (const entry of waiting) {
      const check = ended.get(entry);
      if (check === undefined) continue;
      waiting.delete(entry);
      onEnded(check);
    }
    // Checks of other models may come first: the prober is alive while any check ends.
    if (ended.size !== lastProgress.ended) Object.assign(lastProgress, { ended: ended.size, at: clock.monotonic() });
    if (clock.monotonic() - lastProgress.at > launchChecksSilenceMsMax) throw proberUnavailable(waiting.size);
    if (waiting.size > 0) await sleep(clock, launchChecksWaitMs);
  }
  await models.refreshChecks();
}

interface WatchOptions extends CatalogOptions {
  folder: string;
  clock: Clock;
  log: Logger;
  /** Called when a changed catalog has been read. */
  changed?: (catalog: Catalog) => void;
  /** Called once for each invalid state of the files. */
  alarm?: (error: Error) => void;
}

/** Reads the folder once before it resolves. Never rejects for invalid files. */
export async function watchCatalog(options: WatchOptions): Promise<CatalogWatch> {
  const watch = new CatalogWatch(options);
  await watch.refresh();
  return watch;
}

interface StoredSources {
  sql: Queries;
  bus: Pick<Bus, "listen">;
  clock: Clock;
  log: Logger;
}

function proberUnavailable(missing: number): DomainError {
  const message = `${missing} checks have not ended, and none ended lately: is a prober running?`;
  return new DomainError("unavailable", message);
}

/** Reads the catalog's files again every few seconds. An invalid file leaves the last valid catalog in place. */
class CatalogWatch implements Disposable {
  readonly #options: WatchOptions;
  #catalog: Catalog | null = null;
  #problem: string | null = null;
  /** The state of the files at the last read: a digest, or the reason why they could not be read. */
  #lastState: string | null = null;
  #cancel: (() => void) | null = null;
  #disposed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** The last valid catalog; null: none yet, so every model is `catalog_unreadable`. */
  current(): Catalog | null {
    return this.#catalog;
  }

  /** The problem of the current files; null: none. */
  problem(): string | null {
    return this.#problem;
  }

  /** Reads the files now, and again after a pause. */
  async refresh(): Promise<void> {
    this.#cancel?.();
    try {
      const files = await readCatalogFiles(this.#options.folder);
      this.#apply(files.digest, () => parseCatalog(files, this.#options));
    } catch (error) {
      this.#apply(`unreadable: ${String(error)}`, () => {
        throw error;
      });
    }
    if (!this.#disposed) this.#cancel = this.#options.clock.after(catalogPollMs, () => void this.refresh());
  }

  #apply(state: string, read: () => Catalog): void {
    if (state === this.#lastState) return;
    this.#lastState = state;
    let catalog: Catalog;
    try {
      catalog = read();
    } catch (error) {
      return this.#refuse(error instanceof Error ? error : new Error(String(error)));
    }
    this.#accept(catalog);
  }

  #accept(catalog: Catalog): void {
    this.#problem = null;
    if (this.#catalog?.version === catalog.version) return;
    this.#catalog = catalog;
    this.#options.log.info({ version: catalog.version, models: catalog.models.size }, "catalog read");
    this.#options.changed?.(catalog);
  }

  #refuse(error: Error): void {
    this.#problem = error.message;
    const kept = this.#catalog?.version ?? "none";
    raiseAlarm(this.#options.log, "catalog.unreadable", { problem: error.message, kept }, "The catalog could not be read");
    this.#options.alarm?.(error);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancel?.();
  }
}

/**
 * Reads once before it resolves. Checks that cannot be read count as missing, so no model is callable before the operator's decisions have
 * been read too.
 */
async function watchStored(sources: StoredSources): Promise<StoredWatch> {
  const watch = new StoredWatch(sources);
  await watch.refresh();
  return watch;
}

/**
 * This process's copy of the launch checks and of the operator's decisions, read together, at each notification, and regularly since a
 * notification may be lost.
 */
class StoredWatch implements Disposable {
  readonly #sources: StoredSources;
  readonly #subscription: Disposable;
  #checks: ReadonlyMap<string, LaunchCheck> = new Map();
  #decisions: ProviderDecisions = new Map();
  #reads = 0;
  /** The number of the read whose result is current. */
  #current = 0;
  #cancel: (() => void) | null = null;
  #disposed = false;

  constructor(sources: StoredSources) {
    this.#sources = sources;
    this.#subscription = sources.bus.listen("checks-changed", () => void this.refresh());
  }

  /** Keyed by `Route.entry`. */
  checks(): ReadonlyMap<string, LaunchCheck> {
    return this.#checks;
  }

  /** The same map until a decision changes. */
  decisions(): ProviderDecisions {
    return this.#decisions;
  }

  /**
   * Reads now, and again after a pause. If the database does not answer, what was read before stays and the pause is short, since a process
   * that started without the database has no callable model until then.
   */
  async refresh(): Promise<void> {
    this.#cancel?.();
    const nextMs = (await this.#read()) ? launchChecksPollMs : launchChecksRetryMs;
    this.#cancel?.();
    if (!this.#disposed) this.#cancel = this.#sources.clock.after(nextMs, () => void this.refresh());
  }

  async #read(): Promise<boolean> {
    const { sql, clock, log } = this.#sources;
    const number = ++this.#reads;
    try {
      const reading = Promise.all([readLaunchChecks(sql), readDecisions(sql)]);
      const [checks, rows] = await withDeadline(clock, launchChecksReadMs, "Reading launch checks", reading);
      // A slow read that began earlier may end later, with older checks.
      if (number < this.#current) return true;
      [this.#current, this.#checks] = [number, checks];
      if (!isDeepStrictEqual([...this.#decisions.values()], [...rows])) {
        this.#decisions = new Map(rows.map((row) => [row.provider, row]));
      }
      return true;
    } catch (error) {
      log.warn({ reason: error instanceof Error ? error.message : String(error) }, "launch checks not read");
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancel?.();
    this.#subscription[Symbol.dispose]();
  }
}
