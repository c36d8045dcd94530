/** Collects the lock files of a repository from any source, within limits on their number and size. */
import { archiveNameCharactersMax, repositoryBytesMax, repositoryFilesMax, repositorySkippedMax } from "../limits.ts";
import type { RepositoryFile } from "../lockfiles/read-lock-files.ts";
import { DomainError } from "../../accounts/errors.ts";

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
    if (this.files.length >= repositoryFilesMax)
      throw new DomainError(
        "invalid_field",
        `The repository has more than ${repositoryFilesMax} lock files, the most that are taken: import its folders as projects of their own`,
      );
    if (this.#bytes > repositoryBytesMax)
      throw new DomainError(
        "invalid_field",
        `The lock files of the repository hold more than ${repositoryBytesMax / 1024 / 1024} MiB together, the most that are taken: import its folders as projects of their own`,
      );
    this.files.push(file);
  }

  refuse(path: string, reason: string): void {
    if (this.refused.length < repositorySkippedMax) this.refused.push({ path: path.slice(0, archiveNameCharactersMax), reason });
  }
}
