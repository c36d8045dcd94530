/** Reads the lock files of a repository's archive: zip, tar or tar.gz. It writes nothing to disk. */
import { BudgetUsage, type Budget } from "../archives/budget.ts";
import type { Bytes } from "../archives/byte-reader.ts";
import { refusalOfName, type Entry } from "../archives/entry.ts";
import { BudgetError, UnreadableError } from "../archives/unreadable-error.ts";
import { unwrap } from "../archives/unwrap.ts";
import {
  archiveRatioFromBytes,
  archiveRatioMax,
  lockFileBytesMax,
  repositoryArchiveEntriesMax,
  repositoryArchiveUnpackedBytesMax,
} from "../limits.ts";
import { isLockFileOrCompanion } from "../lockfiles/formats.ts";
import type { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { CollectedFiles, isIgnored, type RepositoryFiles } from "./collected-files.ts";
import { DomainError } from "../../accounts/errors.ts";

export const repositoryBudget: Budget = {
  entriesMax: repositoryArchiveEntriesMax,
  bytesMax: repositoryArchiveUnpackedBytesMax,
  ratioMax: archiveRatioMax,
  ratioFromBytes: archiveRatioFromBytes,
};

/** In the pieces in which it arrived. */
export interface UploadedArchive {
  pieces: readonly Uint8Array[];
  yielder: EventLoopYielder;
}

/** @throws DomainError if it is not an archive, damaged, truncated, a bomb, or has names that leave their folder */
export async function archiveFiles(archive: UploadedArchive, budget = repositoryBudget): Promise<RepositoryFiles> {
  const collecting = { found: new CollectedFiles(), tops: new Set<string>() };
  const length = archive.pieces.reduce((sum, piece) => sum + piece.length, 0);
  const usage = new BudgetUsage(budget, () => length);
  try {
    await collect(archive, usage, collecting);
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const advice = error instanceof BudgetError ? "" : ": make it again and upload the whole of it";
    throw new DomainError("invalid_field", `The archive ${error.message}${advice}`);
  }
  return withoutTopFolder(collecting);
}

interface Collecting {
  found: CollectedFiles;
  /** The first path segments of the names; empty for files outside of any folder. Two show as much as more. */
  tops: Set<string>;
}

async function collect(archive: UploadedArchive, usage: BudgetUsage, { found, tops }: Collecting): Promise<void> {
  const { entries, close } = await unwrap(piecesOf(archive), usage);
  if (entries === null) throw new DomainError("invalid_field", "The file is no archive that is taken: zip, tar and tar.gz are");
  try {
    for await (const entry of entries) {
      usage.entry();
      const unsafe = refusalOfName(entry.name);
      if (unsafe !== null)
        throw new DomainError("invalid_field", `The archive is not taken: its entry "${entry.name.slice(0, 200)}" ${unsafe}`);
      const path = entry.name.replace(/^(?:\.\/+)+/, "");
      if (tops.size < 2) tops.add(path.includes("/") ? path.slice(0, path.indexOf("/")) : "");
      if (isIgnored(path) || !isLockFileOrCompanion(path)) continue;
      if (entry.refusal === null) await addFile(entry, path, found);
      else found.refuse(path, entry.refusal);
    }
  } finally {
    await close();
  }
}

async function addFile(entry: Entry, path: string, found: CollectedFiles): Promise<void> {
  const pieces: Bytes[] = [];
  let length = 0;
  for await (const piece of entry.bytes()) {
    length += piece.length;
    if (length > lockFileBytesMax) return found.refuse(path, `is larger than ${lockFileBytesMax / 1024 / 1024} MiB`);
    pieces.push(piece.slice());
  }
  found.add({ path, bytes: Buffer.concat(pieces) });
}

/** Yields in small pieces, so that other work gets its turn: skipped entries are read too, without waiting. */
async function* piecesOf({ pieces, yielder }: UploadedArchive): AsyncGenerator<Bytes> {
  const pieceBytes = 64 * 1024;
  for (const bytes of pieces) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
      await yielder.yieldIfDue();
    }
  }
}

/** Platforms pack a repository within one folder named after its commit. Its name changes each time, so it is removed. */
function withoutTopFolder({ found: { files, refused }, tops }: Collecting): RepositoryFiles {
  const [top = ""] = tops;
  if (tops.size !== 1 || top === "") return { files, refused };
  const cut = <Named extends { path: string }>(named: Named): Named => ({ ...named, path: named.path.slice(top.length + 1) });
  return { files: files.map(cut), refused: refused.map(cut) };
}
