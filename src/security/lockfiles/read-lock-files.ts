/**
 * Reads lock files into graphs. It only reads the files: it runs no code and makes no network calls. A broken file is reported with its
 * reason and does not affect the others; the order of the input does not change the result.
 */
import { byCodeUnits } from "../../kernel/text.ts";
import { lockFileBytesMax } from "../limits.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import { lockFormatOf, type LockFormat } from "./formats.ts";
import { LockFileError, type LockGraph } from "./lock-graph.ts";

export interface RepositoryFile {
  /** Within the repository, with slashes. */
  path: string;
  bytes: Uint8Array;
}

export interface ParsedLockFile extends LockGraph {
  path: string;
  ecosystem: Ecosystem;
}

interface ParsedLockFiles {
  read: ParsedLockFile[];
  /** The unreadable files and the reasons. */
  failed: { path: string; reason: string }[];
}

/** Sorted by path, whatever the order of the input. */
export function readLockFiles(files: readonly RepositoryFile[]): ParsedLockFiles {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const result: ParsedLockFiles = { read: [], failed: [] };
  for (const file of [...byPath.values()].toSorted((one, other) => byCodeUnits(one.path, other.path))) {
    const format = lockFormatOf(file.path);
    if (format === null || isReplaced(file, format, byPath)) continue;
    try {
      result.read.push({ path: file.path, ecosystem: format.ecosystem, ...readOne(file, format, byPath) });
    } catch (error) {
      if (!(error instanceof LockFileError)) throw error;
      result.failed.push({ path: file.path, reason: error.message });
    }
  }
  return result;
}

function isReplaced({ path }: RepositoryFile, { replacedBy }: LockFormat, files: ReadonlyMap<string, RepositoryFile>): boolean {
  return replacedBy !== undefined && files.has(besidePath(path, replacedBy));
}

function besidePath(path: string, name: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1) + name;
}

function readOne(file: RepositoryFile, format: LockFormat, files: ReadonlyMap<string, RepositoryFile>): LockGraph {
  const beside = (name: string) => {
    const other = files.get(besidePath(file.path, name));
    return other === undefined ? null : textOf(other);
  };
  const text = textOf(file);
  if (text.trim() === "") throw new LockFileError("is empty");
  return format.read({ text, path: file.path, beside });
}

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const lfsMark = "version https://git-lfs.github.com/spec/";

function textOf({ bytes }: RepositoryFile): string {
  if (bytes.length > lockFileBytesMax) throw new LockFileError(`is larger than ${lockFileBytesMax / 1024 / 1024} MiB`);
  if (new TextDecoder().decode(bytes.subarray(0, lfsMark.length)) === lfsMark) {
    throw new LockFileError("is a pointer of Git LFS; the file itself is needed");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new LockFileError("is not valid UTF-8");
  }
}
