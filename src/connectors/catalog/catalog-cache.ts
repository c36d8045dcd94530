/**
 * What a gateway holds of the connector catalog: the version of its files, or the last recorded one if the files have errors, and the
 * documents derived from it.
 *
 * A gateway publishes what it finds at startup. Unreadable files raise the alarm `connectors.unreadable` and leave the last version in
 * place; mistakes in the search words are only logged. Each document is made once, even for several callers, and cached up to a number of
 * bytes. Anyone may request documents without a key, so they are made one at a time with a rest after each: a flood takes at most a third
 * of the event loop.
 */
import { join } from "node:path";
import { LimitReachedError } from "../../accounts/errors.ts";
import type { Database } from "../../backing/backing.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import * as limits from "../limits.ts";
import type { Document } from "../../http/document.ts";
import { catalogOf, judgeSearchWords } from "./files/judge.ts";
import { readConnectorFiles, type ConnectorFiles, formatProblem } from "./files/read-file.ts";
import type { ConnectorCatalog, GrantNotes } from "./files/schema.ts";
import { loadPublished, type Published, recordCatalog } from "./published.ts";
import { setGrantsOf, type SetGrants } from "./row.ts";
import { knowledgeOf, nothingKnown, type SearchKnowledge } from "./search-terms.ts";
import { latestCatalog } from "./store.ts";

interface LibrarySources {
  sql: Database;
  /** The folder in CATALOG_DIR. */
  folder: string;
  clock: Clock;
  log: Logger;
}

export class CatalogCache {
  readonly #sources: LibrarySources;
  readonly renderings: Renderings;
  readonly kept = new DocumentCache(limits.connectorDocumentsBytesMax);
  readonly pages = new DocumentCache(limits.connectorPagesBytesMax);
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

  /** null until a catalog is published. */
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

  /** The grants of each set of credentials; empty if the files have errors. */
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
        await sleep(clock, limits.prepareRetryMs, signal);
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

  /** Mistakes in the search words are logged, and the other words are used. */
  #knowledgeOf(catalog: ConnectorCatalog, { searchWords }: ConnectorFiles): SearchKnowledge {
    const { words, problems } = judgeSearchWords(searchWords, catalog);
    const [first] = problems;
    if (first) this.#sources.log.warn({ event: "connectors.search_words", reason: formatProblem(first) });
    return knowledgeOf(catalog, words);
  }
}

interface Kept {
  document: Promise<Document>;
  /** 0 until the document is made. */
  bytes: number;
}

/** Caches documents and evicts the least recently used first. */
export class DocumentCache {
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param bytesMax beyond it, the least recently used documents are evicted, but never the newest */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @param key must cover everything that the document depends on */
  get(key: string, make: () => Promise<Document>): Promise<Document> {
    const known = this.#kept.get(key);
    const kept = known ?? { document: make(), bytes: 0 };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (known === undefined) {
      kept.document.then(
        ({ plain, gzip }) => this.#count(kept, plain.bytes.byteLength + (gzip?.bytes.byteLength ?? 0)),
        // A failure is not cached: the next caller tries again.
        () => this.#kept.delete(key),
      );
    }
    return kept.document;
  }

  #count(made: Kept, bytes: number): void {
    made.bytes = bytes;
    this.#bytes += bytes;
    for (const [key, kept] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      if (kept === made || kept.bytes === 0) continue;
      this.#kept.delete(key);
      this.#bytes -= kept.bytes;
    }
  }
}

/** A rest lasts this many times as long as the rendering before it. */
const restFactor = 2;

export class Renderings {
  readonly #clock: Clock;
  /** Resolves when the last rendering and its rest have ended. */
  #last: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws LimitReachedError if the queue is full, or what making the document throws */
  run<T>(make: () => Promise<T>): Promise<T> {
    if (this.#pending > limits.renderingsWaitingMax) throw busy();
    this.#pending++;
    let began = 0;
    const made = this.#last.then(() => {
      began = this.#clock.monotonic();
      return make();
    });
    this.#last = made.then(
      () => this.#rest(began),
      () => this.#rest(began),
    );
    return made;
  }

  async #rest(began: number): Promise<void> {
    const tookMs = this.#clock.monotonic() - began;
    const restMs = Math.min(restFactor * tookMs, limits.renderingRestMsMax);
    if (restMs >= 1) await sleep(this.#clock, restMs);
    this.#pending--;
  }
}

/** A service without connectors may lack the folder; an unreadable folder is an error. */
function isNoFolder(error: unknown, folder: string): boolean {
  const missing = error instanceof Error && "code" in error && error.code === "ENOENT" && "path" in error;
  return missing && error.path === join(folder, "connectors");
}

function busy(): LimitReachedError {
  const message = "Too many different pages and lists are requested at present (renderingsWaitingMax): try again shortly";
  return new LimitReachedError(message, { status: 503, retryAfterMs: 1_000 });
}
