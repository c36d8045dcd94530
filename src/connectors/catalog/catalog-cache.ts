/** The connector catalog that a gateway serves: the one of its files, or the last recorded one if the files have errors. */
import { join } from "node:path";
import type { Database } from "../../backing/backing.ts";
import { raiseAlarm } from "../../kernel/alarm.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { connectorDocumentsBytesMax, connectorPagesBytesMax, prepareRetryMs } from "../limits.ts";
import type { ConnectorCatalog } from "./files/catalog.ts";
import { readConnectorFiles, type ConnectorFiles } from "./files/catalog-folder.ts";
import { catalogOf } from "./files/judge.ts";
import { judgeSearchWords } from "./files/judge-search-words.ts";
import { formatProblem } from "./files/problem.ts";
import { DocumentCache } from "./document-cache.ts";
import { loadPublished, type Published } from "./published.ts";
import { recordCatalog } from "./record-catalog.ts";
import { Renderings } from "./renderings.ts";
import { knowledgeOf, nothingKnown, type SearchKnowledge } from "./search/search-terms.ts";
import type { GrantNotes } from "./files/schema.ts";
import { setGrantsOf, type SetGrants } from "./set-grants.ts";
import { latestCatalog } from "./store.ts";

export interface LibrarySources {
  sql: Database;
  /** The folder in CATALOG_DIR. */
  folder: string;
  clock: Clock;
  log: Logger;
}

export class CatalogCache {
  readonly #sources: LibrarySources;
  readonly renderings: Renderings;
  readonly kept = new DocumentCache(connectorDocumentsBytesMax);
  readonly pages = new DocumentCache(connectorPagesBytesMax);
  #published: Published | null = null;
  #categories: readonly string[] = [];
  #grantNotes: GrantNotes = [];
  #setGrants: SetGrants = new Map();

  constructor(sources: LibrarySources) {
    this.#sources = sources;
    this.renderings = new Renderings(sources.clock);
  }

  get sql(): Database {
    return this.#sources.sql;
  }

  /** null until a catalog was published. */
  get published(): Published | null {
    return this.#published;
  }

  /** In display order. */
  get categories(): readonly string[] {
    return this.#categories;
  }

  /** Empty if the files have errors; rows then contain the notes' texts in their grant column. */
  get grantNotes(): GrantNotes {
    return this.#grantNotes;
  }

  /** The grants of single sets of credentials; empty if the files have errors. */
  get setGrants(): SetGrants {
    return this.#setGrants;
  }

  /**
   * Reads the files, records their changes and serves that version from then on.
   * @throws Error of the database
   */
  async publish(): Promise<void> {
    const { sql, clock, log } = this.#sources;
    const { catalog, known } = await this.#read();
    const version = catalog ? await recordCatalog(catalog, { sql, clock }) : await latestCatalog(sql);
    if (!version) return;
    const published = await loadPublished(version, { sql, known });
    this.#categories = catalog?.categories ?? [...new Set(published.connectors.map(({ category }) => category))];
    this.#grantNotes = catalog?.grantNotes ?? [];
    this.#setGrants = setGrantsOf(catalog);
    this.#published = published;
    log.info({ event: "connectors.published", version: version.version, connectors: published.connectors.length });
  }

  /** Retries until the database answers; never rejects. */
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

  /** No catalog if the files have errors, which are logged. */
  async #read(): Promise<{ catalog: ConnectorCatalog | null; known: SearchKnowledge }> {
    const { folder, log } = this.#sources;
    try {
      const files = await readConnectorFiles(folder);
      const catalog = catalogOf(files);
      return { catalog, known: this.#knowledgeOf(catalog, files) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isNoFolder(error, folder)) log.info({ event: "connectors.absent", folder }, "There is no folder of connectors");
      else
        raiseAlarm(
          log,
          "connectors.unreadable",
          { reason },
          "The connector files cannot be used: the gateway keeps serving the last recorded catalog",
        );
      return { catalog: null, known: nothingKnown };
    }
  }

  /** Mistakes in the words of the search are logged, and the others are used. */
  #knowledgeOf(catalog: ConnectorCatalog, { searchWords }: ConnectorFiles): SearchKnowledge {
    const { words, problems } = judgeSearchWords(searchWords, catalog);
    const [first] = problems;
    if (first) this.#sources.log.warn({ event: "connectors.search_words", reason: formatProblem(first) });
    return knowledgeOf(catalog, words);
  }
}

/** A service without connectors may lack the folder; an unusable folder is an error. */
function isNoFolder(error: unknown, folder: string): boolean {
  const missing = error instanceof Error && "code" in error && error.code === "ENOENT" && "path" in error;
  return missing && error.path === join(folder, "connectors");
}
