/** Reads the catalog's files again every few seconds. An invalid file leaves the last valid catalog in place. */
import { raiseAlarm } from "../../kernel/alarm.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { catalogPollMs } from "../limits.ts";
import { parseCatalog, type CatalogOptions } from "./catalog.ts";
import { readCatalogFiles } from "./catalog-files.ts";
import type { Catalog } from "./model.ts";

export interface WatchOptions extends CatalogOptions {
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

export class CatalogWatch implements Disposable {
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

  /** The problem of the present files; null: none. */
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
