/** The connector catalog that a gateway answers with: of the files at its start, or the last recorded one where they are no good. */
import { join } from "node:path";
import type { Database } from "../../backing/backing.ts";
import { raiseAlarm } from "../../kernel/alarm.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { connectorDocumentsKeptMax, connectorPagesKeptMax, prepareRetryMs } from "../limits.ts";
import type { ConnectorCatalog } from "./files/catalog.ts";
import { readConnectorFiles } from "./files/catalog-folder.ts";
import { catalogOf } from "./files/judge.ts";
import { KeptDocuments } from "./document-cache.ts";
import { loadPublished, type Published } from "./published.ts";
import { recordCatalog } from "./record-catalog.ts";
import { Renderings } from "./renderings.ts";
import type { GrantNotes } from "./files/schema.ts";
import { latestCatalog } from "./store.ts";

export interface LibrarySources {
  sql: Database;
  /** What CATALOG_DIR names. */
  folder: string;
  clock: Clock;
  log: Logger;
}

export class ConnectorLibrary {
  readonly #sources: LibrarySources;
  readonly renderings: Renderings;
  readonly kept = new KeptDocuments(connectorDocumentsKeptMax);
  readonly pages = new KeptDocuments(connectorPagesKeptMax);
  #published: Published | null = null;
  #categories: readonly string[] = [];
  #grantNotes: GrantNotes = [];

  constructor(sources: LibrarySources) {
    this.#sources = sources;
    this.renderings = new Renderings(sources.clock);
  }

  get sql(): Database {
    return this.#sources.sql;
  }

  /** null: nothing was published yet. */
  get published(): Published | null {
    return this.#published;
  }

  /** In the order in which they are shown. */
  get categories(): readonly string[] {
    return this.#categories;
  }

  /** Empty where the files are no good: rows hold the notes' words too, in the column of the grant. */
  get grantNotes(): GrantNotes {
    return this.#grantNotes;
  }

  /**
   * Reads the files, records what is new in them, and answers with that version from now on.
   * @throws Error of the database
   */
  async publish(): Promise<void> {
    const { sql, clock, log } = this.#sources;
    const catalog = await this.#read();
    const version = catalog ? await recordCatalog(catalog, { sql, clock }) : await latestCatalog(sql);
    if (!version) return;
    const published = await loadPublished(version, sql);
    this.#categories = catalog?.categories ?? [...new Set(published.connectors.map(({ category }) => category))];
    this.#grantNotes = catalog?.grantNotes ?? [];
    this.#published = published;
    log.info({ event: "connectors.published", version: version.version, connectors: published.connectors.length });
  }

  /** Tries until the database is there; never rejects. */
  async publishWhenPossible(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#sources;
    while (!signal.aborted) {
      try {
        return await this.publish();
      } catch (error) {
        log.warn({ event: "connectors.waiting", reason: String(error) }, "The connector catalog cannot be recorded yet");
        await sleep(clock, prepareRetryMs, signal);
      }
    }
  }

  /** null: the files are no catalog, and whoever runs the service was told. */
  async #read(): Promise<ConnectorCatalog | null> {
    const { folder, log } = this.#sources;
    try {
      return catalogOf(await readConnectorFiles(folder));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isNoFolder(error, folder)) log.info({ event: "connectors.absent", folder }, "There is no folder of connectors");
      else
        raiseAlarm(
          log,
          "connectors.unreadable",
          { reason },
          "The connector files cannot be used: the last recorded catalog stays",
        );
      return null;
    }
  }
}

/** A service may have models alone; a folder that is there and cannot be used is another thing. */
function isNoFolder(error: unknown, folder: string): boolean {
  const missing = error instanceof Error && "code" in error && error.code === "ENOENT" && "path" in error;
  return missing && error.path === join(folder, "connectors");
}
