/** What is left of an interrupted synchronization: a part of an archive or a whole one, and how far its records are stored. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import type { Cursor } from "../../../src/security/advisories/read-advisories.ts";

export interface SyncState {
  url: string;
  /** A strong ETag, without which nothing is continued. */
  etag: string;
  /** ISO 8601; null: the server did not tell. */
  publishedAt: string | null;
  /** The archive's length. */
  bytesTotal: number;
  /** The last stored record; null: none. */
  cursor: Cursor | null;
}

export class SyncFiles {
  /** The archive, whole or in part. */
  readonly archive: string;
  readonly #state: string;

  /** Makes the folder where it is missing. @throws an error of the file system */
  constructor(folder: string, ecosystem: Ecosystem) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.archive = join(folder, `${ecosystem}.zip`);
    this.#state = join(folder, `${ecosystem}.json`);
  }

  /** @returns null if nothing is left, or something else than this */
  read(): SyncState | null {
    try {
      return stateFrom(JSON.parse(readFileSync(this.#state, "utf8")));
    } catch {
      return null;
    }
  }

  write(state: SyncState): void {
    writeFileSync(this.#state, JSON.stringify(state), { mode: 0o600 });
  }

  /** Bytes of the archive that are there. */
  size(): number {
    return statSync(this.archive, { throwIfNoEntry: false })?.size ?? 0;
  }

  remove(): void {
    rmSync(this.archive, { force: true });
    rmSync(this.#state, { force: true });
  }
}

function stateFrom(value: unknown): SyncState | null {
  const { url, etag, publishedAt, bytesTotal, cursor } = Object(value);
  if (typeof url !== "string" || typeof etag !== "string" || !Number.isSafeInteger(bytesTotal)) return null;
  if (publishedAt !== null && typeof publishedAt !== "string") return null;
  return { url, etag, publishedAt, bytesTotal, cursor: cursorFrom(cursor) };
}

function cursorFrom(value: unknown): Cursor | null {
  const { document, record } = Object(value);
  return typeof document === "string" && Number.isSafeInteger(record) ? { document, record } : null;
}
