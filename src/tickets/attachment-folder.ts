/** The files of tickets, in the data folder of the one process that has it. */
import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
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
   * @returns the id by which the ticket names it
   * @throws OperationError where too many of this person's files wait for their tickets
   */
  async keep(
    { bytes, name, ...place }: Place & { bytes: Uint8Array; name: string },
    { sql, clock }: { sql: Queries; clock: Clock },
  ): Promise<string> {
    const now = clock.now();
    const forgotten = await deleteUnused(new Date(now - attachmentUnusedMs), sql);
    await Promise.all(forgotten.map((id) => rm(this.#path(id), { force: true })));
    if ((await countUnused(place, sql)) >= attachmentsUnusedMax) {
      throw new OperationError(
        `Cannot keep more than ${attachmentsUnusedMax} files that no ticket has come for: try again later`,
      );
    }
    const id = newToolsId("att", now);
    await this.#write(id, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await insertAttachment({ ...place, id, name, sizeBytes: bytes.length, sha256, ticket: null, at: new Date(now) }, sql);
    return id;
  }

  /** Under its name stands a whole file or none. */
  async #write(id: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const partial = `${this.#path(id)}.partial`;
    await writeFile(partial, bytes, { mode: 0o600, flush: true });
    await rename(partial, this.#path(id));
  }

  /** Ids are ours: 26 characters of a-z and 2-7 after their kind. */
  #path(id: string): string {
    return join(this.#folder, id);
  }
}
