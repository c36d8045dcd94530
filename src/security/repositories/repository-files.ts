/**
 * Collects the lock files of a repository, from a folder on this machine or an uploaded archive, within limits on their number and size. It
 * writes nothing to disk.
 *
 * Symbolic links are not followed. Installed packages, git's own files and `vendor` are ignored. Platforms pack a repository into one
 * folder named after its commit. That folder is removed from the paths, since its name changes each time.
 */
import { constants } from "node:fs";
import { open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { DomainError } from "../../accounts/errors.ts";
import { GatheredBytes } from "../../http/body.ts";
import type { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import { BudgetUsage, type Budget } from "../archives/budget.ts";
import { type Bytes, BudgetError, UnreadableError } from "../archives/byte-reader.ts";
import { refusalOfName, type Entry } from "../archives/entry.ts";
import { unwrap } from "../archives/unwrap.ts";
import * as limits from "../limits.ts";
import { isLockFileOrCompanion, unsupportedReason } from "../lockfiles/formats.ts";
import type { RepositoryFile } from "../lockfiles/read-lock-files.ts";

/** The source of an import. */
export interface RepositoryFiles {
  files: RepositoryFile[];
  /** Unusable lock files and the reasons. */
  refused: { path: string; reason: string }[];
}

/** Never read: installed packages and git's own files. `vendor` contains copies of other projects. */
const passedOver = new Set([".git", "node_modules", "vendor"]);

/** @param path with slashes */
export function isIgnored(path: string): boolean {
  return path.split("/").some((part) => passedOver.has(part));
}

export class CollectedFiles implements RepositoryFiles {
  readonly files: RepositoryFile[] = [];
  readonly refused: { path: string; reason: string }[] = [];
  #bytes = 0;

  /** @throws DomainError if there are too many or they are too large */
  add(file: RepositoryFile): void {
    this.#bytes += file.bytes.length;
    if (this.files.length >= limits.repositoryFilesMax)
      throw new DomainError(
        "invalid_field",
        `The repository has more than ${limits.repositoryFilesMax} lock files, the most that are accepted: import its folders as separate projects`,
      );
    if (this.#bytes > limits.repositoryBytesMax)
      throw new DomainError(
        "invalid_field",
        `The lock files of the repository hold more than ${limits.repositoryBytesMax / 1024 / 1024} MiB together, the most that are accepted: import its folders as separate projects`,
      );
    this.files.push(file);
  }

  refuse(path: string, reason: string): void {
    if (this.refused.length < limits.repositorySkippedMax)
      this.refused.push({ path: path.slice(0, limits.archiveNameCharactersMax), reason });
  }

  /** Names a lock file of a package manager that is not supported; any other file is no concern of an import. */
  refuseUnsupported(path: string): void {
    const reason = unsupportedReason(path);
    if (reason !== null) this.refuse(path, reason);
  }
}

export const repositoryBudget: Budget = {
  entriesMax: limits.repositoryArchiveEntriesMax,
  bytesMax: limits.repositoryArchiveUnpackedBytesMax,
  ratioMax: limits.archiveRatioMax,
  ratioFromBytes: limits.archiveRatioFromBytes,
};

interface UploadedArchive {
  bytes: Uint8Array;
  yielder: EventLoopYielder;
}

/**
 * Reads zip, tar and tar.gz. @throws DomainError if it is not an archive, damaged, truncated, a bomb, or has names that leave their
 * folder
 */
export async function archiveFiles(archive: UploadedArchive, budget = repositoryBudget): Promise<RepositoryFiles> {
  const collecting = { found: new CollectedFiles(), tops: new Set<string>() };
  const usage = new BudgetUsage(budget, () => archive.bytes.length);
  try {
    await collect(archive, usage, collecting);
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const advice = error instanceof BudgetError ? "" : ": create it again and upload all of it";
    throw new DomainError("invalid_field", `The archive ${error.message}${advice}`);
  }
  return withoutTopFolder(collecting);
}

/** @throws DomainError for a folder that is too large; Error of the file system if it is not a folder */
export async function folderFiles(folder: string): Promise<RepositoryFiles> {
  const found = new CollectedFiles();
  const folders = [""];
  let visited = 0;
  for (let within = folders.pop(); within !== undefined; within = folders.pop()) {
    if (++visited > limits.repositoryFoldersMax)
      throw new DomainError(
        "invalid_field",
        `The folder "${folder}" holds more than ${limits.repositoryFoldersMax} folders, the most that are looked through`,
      );
    for await (const entry of await opendir(join(folder, within))) {
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isIgnored(entry.name) && path.split("/").length <= limits.folderDepthMax) folders.push(path);
      } else if (isLockFileOrCompanion(path)) {
        if (entry.isFile()) await addFolderFile({ folder, path }, found);
        else found.refuse(path, "is a link, and links are not followed");
      } else {
        found.refuseUnsupported(path);
      }
    }
  }
  return found;
}

interface Collecting {
  found: CollectedFiles;
  /** The first path segments of the names; empty for files outside any folder. Two are enough to show that there is more than one. */
  tops: Set<string>;
}

async function collect(archive: UploadedArchive, usage: BudgetUsage, { found, tops }: Collecting): Promise<void> {
  const { entries, close } = await unwrap(piecesOf(archive), usage);
  if (entries === null) throw new DomainError("invalid_field", "The file is not a supported archive: zip, tar and tar.gz are");
  try {
    for await (const entry of entries) {
      usage.entry();
      const unsafe = refusalOfName(entry.name);
      if (unsafe !== null)
        throw new DomainError("invalid_field", `The archive is refused: its entry "${entry.name.slice(0, 200)}" ${unsafe}`);
      const path = entry.name.replace(/^(?:\.\/+)+/, "");
      if (tops.size < 2) tops.add(path.includes("/") ? path.slice(0, path.indexOf("/")) : "");
      if (isIgnored(path)) continue;
      if (!isLockFileOrCompanion(path)) found.refuseUnsupported(path);
      else if (entry.refusal === null) await addFile(entry, path, found);
      else found.refuse(path, entry.refusal);
    }
  } finally {
    await close();
  }
}

/** Yields small pieces, so that other work gets a turn: reading skipped entries never waits. */
async function* piecesOf({ bytes, yielder }: UploadedArchive): AsyncGenerator<Bytes> {
  const pieceBytes = 64 * 1024;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await yielder.yieldIfDue();
  }
}

async function addFile(entry: Entry, path: string, found: CollectedFiles): Promise<void> {
  const gathered = new GatheredBytes();
  for await (const piece of entry.bytes()) {
    gathered.add(piece.slice());
    if (gathered.length > limits.lockFileBytesMax)
      return found.refuse(path, `is larger than ${limits.lockFileBytesMax / 1024 / 1024} MiB`);
  }
  found.add({ path, bytes: gathered.take() });
}

/** Platforms pack a repository into one folder named after its commit. The name changes each time, so the folder is removed. */
function withoutTopFolder({ found: { files, refused }, tops }: Collecting): RepositoryFiles {
  const [top = ""] = tops;
  if (tops.size !== 1 || top === "") return { files, refused };
  const cut = <Named extends { path: string }>(named: Named): Named => ({ ...named, path: named.path.slice(top.length + 1) });
  return { files: files.map(cut), refused: refused.map(cut) };
}

/** Opened with a flag that fails if the file has since been replaced by a link. */
async function addFolderFile({ folder, path }: { folder: string; path: string }, found: CollectedFiles): Promise<void> {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > limits.lockFileBytesMax) found.refuse(path, `is larger than ${limits.lockFileBytesMax / 1024 / 1024} MiB`);
    else found.add({ path, bytes: await file.readFile() });
  } finally {
    await file.close();
  }
}
