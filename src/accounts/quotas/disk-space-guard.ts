/**
 * Keeps disk space free for the journal of charges and the database: below a floor, documents and attachments are refused. Space is
 * measured at most once a second.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "../../kernel/clock.ts";
import { diskFloorBytes, diskLookMs, diskRetryMs } from "../limits.ts";
import { memoizeFor } from "../../process/memoize-for.ts";
import { LimitReachedError } from "../errors.ts";

/** @returns free bytes */
type FreeBytes = () => Promise<number>;

export class DiskSpaceGuard {
  readonly #look: FreeBytes;

  constructor(clock: Clock, free: FreeBytes) {
    this.#look = memoizeFor(diskLookMs, clock, free);
  }

  /** @throws LimitReachedError 503 below the floor */
  async require(): Promise<void> {
    if ((await this.#look()) >= diskFloorBytes) return;
    const message = "The service's disk is nearly full (diskFloorBytes): documents and attachments are refused until it has room";
    throw new LimitReachedError(message, { status: 503, retryAfterMs: diskRetryMs });
  }
}

/** Free bytes of a folder's file system for users other than root. */
export function freeBytesOf(folder: string): FreeBytes {
  return async () => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  };
}
