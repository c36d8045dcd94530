/**
 * Reads lock files into graphs. It only reads the files: it runs no code and makes no network calls. A broken file is reported with its
 * reason and does not affect the others; the order of the input does not change the result.
 */
import { byCodeUnits } from "../../kernel/text.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import { defaultChoices, lockFormatOf, type LockChoices, type LockFormat } from "./formats.ts";
import { RequirementFiles } from "./formats/requirements.ts";
import { LockFileError, type LockGraph } from "./lock-graph.ts";
import { lockText } from "./lock-text.ts";

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
export function readLockFiles(files: readonly RepositoryFile[], choices = defaultChoices): ParsedLockFiles {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const result: ParsedLockFiles = { read: [], failed: [] };
  const requirements = requirementFilesOf(byPath);
  for (const file of [...byPath.values()].toSorted((one, other) => byCodeUnits(one.path, other.path))) {
    const format = lockFormatOf(file.path) ?? (requirements.isIncluded(file.path) ? lockFormatOf("requirements.txt") : null);
    if (format === null || isReplaced(file, format, byPath)) continue;
    try {
      result.read.push({
        path: file.path,
        ecosystem: format.ecosystem,
        ...readOne(file, format, { byPath, requirements, choices }),
      });
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

interface Others {
  byPath: ReadonlyMap<string, RepositoryFile>;
  requirements: RequirementFiles;
  choices: LockChoices;
}

function readOne(file: RepositoryFile, format: LockFormat, { byPath, requirements, choices }: Others): LockGraph {
  const beside = (name: string) => {
    const other = byPath.get(besidePath(file.path, name));
    return other === undefined ? null : lockText(other.bytes);
  };
  const text = lockText(file.bytes, format.encoding);
  if (text.trim() === "") throw new LockFileError("is empty");
  return format.read({ text, path: file.path, beside, requirements, choices });
}

function requirementFilesOf(byPath: ReadonlyMap<string, RepositoryFile>): RequirementFiles {
  return new RequirementFiles({
    roots: [...byPath.keys()].filter((path) => lockFormatOf(path)?.encoding === "python"),
    textOf(path) {
      const file = byPath.get(path);
      return file === undefined ? null : lockText(file.bytes, "python");
    },
  });
}
