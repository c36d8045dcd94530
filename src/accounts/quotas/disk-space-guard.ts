/** Free space that is kept for what has to be written: the journal of charges, the database. */
import { statfs } from "node:fs/promises";
import type { Clock } from "../../kernel/clock.ts";
import { diskFloorBytes, diskLookMs, diskRetryMs } from "../limits.ts";
import { memoizeFor } from "../../process/memoize-for.ts";
import { LimitReachedError } from "./limit-reached.ts";

/** @returns free bytes */
export type FreeBytes = () => Promise<number>;

export class DiskSpaceGuard {
  readonly #look: FreeBytes;

  constructor(clock: Clock, free: FreeBytes) {
    this.#look = memoizeFor(diskLookMs, clock, free);
  }

  /** @throws LimitReachedError 503 below the floor */
  async require(): Promise<void> {
    if ((await this.#look()) >= diskFloorBytes) return;
    const message =
      "The service's disk is nearly full (diskFloorBytes): documents and attachments are not taken until it has room";
    throw new LimitReachedError(message, { status: 503, retryAfterMs: diskRetryMs });
  }
}

/** Of the file system that a folder is on, for whoever is not root. */
export function freeBytesOf(folder: string): FreeBytes {
  return async () => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  };
}
