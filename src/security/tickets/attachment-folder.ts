/**
 * The files of tickets, in the data folder of one process. A file is first written piece by piece under a partial name, so that a file with
 * the final name is complete. No whole file is ever in memory. Files without a ticket are removed after an hour.
 */
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { newToolsId } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../../backing/backing.ts";
import { attachmentUnusedMs } from "../limits.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { requireFileQuota } from "./quota.ts";
import { deleteUnused, insertAttachment, selectStoredFiles, type TicketOwner } from "./store.ts";

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

interface SentFile extends TicketOwner {
  pieces: Pieces;
  name: string;
}

interface FolderParts {
  sql: Database;
  clock: Clock;
}

export class AttachmentFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Stores a file for a later ticket.
   * @param pieces the content; none of it is read if a quota is exceeded
   * @returns the id by which a ticket refers to it, and its size in bytes
   * @throws LimitReachedError, DomainError if too many files are stored; errors of `pieces`
   */
  async keep({ pieces, name, ...place }: SentFile, { sql, clock }: FolderParts): Promise<{ id: string; sizeBytes: number }> {
    const now = clock.now();
    const forgotten = await deleteUnused(new Date(now - attachmentUnusedMs), sql);
    await Promise.all(forgotten.map((id) => rm(this.#path(id), { force: true })));
    requireFileQuota(await selectStoredFiles(place, sql), { more: 1, now });
    const id = newToolsId("att", now);
    const written = await this.#write(id, pieces);
    try {
      await sql.begin(async (tx) => {
        await insertAttachment({ ...place, ...written, id, name, ticket: null, at: new Date(now) }, tx);
        await lockQuota({ workspace: place.workspace, counted: "attachments" }, tx);
        requireFileQuota(await selectStoredFiles(place, tx), { more: 0, now });
      });
    } catch (error) {
      await rm(this.#path(id), { force: true });
      throw error;
    }
    return { id, sizeBytes: written.sizeBytes };
  }

  /** Writes to a partial file first, so that a file with the final name is complete. */
  async #write(id: string, pieces: Pieces): Promise<{ sizeBytes: number; sha256: string }> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const partial = `${this.#path(id)}.partial`;
    try {
      const written = await writePieces(partial, pieces);
      await rename(partial, this.#path(id));
      return written;
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  /** Ids are generated here: a prefix and 26 characters from a-z and 2-7. */
  #path(id: string): string {
    return join(this.#folder, id);
  }
}

/** Writes and hashes piece by piece, so that no whole file is in memory. */
async function writePieces(path: string, pieces: Pieces): Promise<{ sizeBytes: number; sha256: string }> {
  await using file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    sizeBytes += piece.length;
    await file.writeFile(piece);
  }
  await file.sync();
  return { sizeBytes, sha256: hash.digest("hex") };
}
