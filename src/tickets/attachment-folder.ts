/** The files of tickets, in the data folder of the one process that has it. */
import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { newToolsId } from "../kernel/ids.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Queries } from "../backing/backing.ts";
import { attachmentsUnusedMax, attachmentUnusedMs } from "../limits/tools.ts";
import { OperationError } from "../operations/operation-error.ts";
import { countUnused, deleteUnused, insertAttachment, type Place } from "./store.ts";

export class AttachmentFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Keeps a file for the ticket that is to follow; what no ticket came for is removed after an hour.
   * @param pieces the file, as it came
   * @returns the id by which the ticket names it, and how many bytes it has
   * @throws OperationError where too many of this person's files wait for their tickets
   */
  async keep(
    { pieces, name, ...place }: Place & { pieces: readonly Uint8Array[]; name: string },
    { sql, clock }: { sql: Queries; clock: Clock },
  ): Promise<{ id: string; sizeBytes: number }> {
    const now = clock.now();
    const forgotten = await deleteUnused(new Date(now - attachmentUnusedMs), sql);
    await Promise.all(forgotten.map((id) => rm(this.#path(id), { force: true })));
    if ((await countUnused(place, sql)) >= attachmentsUnusedMax) {
      throw new OperationError(
        `Cannot keep more than ${attachmentsUnusedMax} files that no ticket has come for: try again later`,
      );
    }
    const id = newToolsId("att", now);
    const kept = await this.#write(id, pieces);
    await insertAttachment({ ...place, ...kept, id, name, ticket: null, at: new Date(now) }, sql);
    return { id, sizeBytes: kept.sizeBytes };
  }

  /** Under its name stands a whole file or none. */
  async #write(id: string, pieces: readonly Uint8Array[]): Promise<{ sizeBytes: number; sha256: string }> {
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

  /** Ids are ours: 26 characters of a-z and 2-7 after their kind. */
  #path(id: string): string {
    return join(this.#folder, id);
  }
}

/** One after the other, and the sum with them: over 50 MiB at once it would hold the thread. */
async function writePieces(path: string, pieces: readonly Uint8Array[]): Promise<{ sizeBytes: number; sha256: string }> {
  await using file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for (const piece of pieces) {
    hash.update(piece);
    sizeBytes += piece.length;
    await file.writeFile(piece);
  }
  await file.sync();
  return { sizeBytes, sha256: hash.digest("hex") };
}
