/**
 * A platform that hosts repositories, as the source of lock files, and the download of the lock files that it lists, several at a time.
 * Only the lock files of a list are kept, so it may be long. Symbolic links are refused; after a failure the other downloads stop.
 */
import { DomainError } from "../../accounts/errors.ts";
import { TooLargeError } from "../../http/safe-fetch.ts";
import { lockFileBytesMax, repositoryFetchesAtOnce, repositoryFilesMax } from "../limits.ts";
import { isLockFileOrCompanion, unsupportedReason } from "../lockfiles/formats.ts";
import type { HostApi } from "./host-api.ts";
import { type RepositoryFiles, CollectedFiles, isIgnored } from "./repository-files.ts";

export interface HostedRepository extends RepositoryFiles {
  /** With its owner or groups, as the platform spells it: `owner/name`. */
  name: string;
}

export interface RepositoryHost {
  provider: "github" | "gitlab";
  /** For people. */
  title: string;
  /** Sent with every call. */
  headers(token: string | null): Record<string, string>;
  /** @param path `owner/name` @throws DomainError */
  files(path: string, api: HostApi): Promise<HostedRepository>;
}

export interface ListedFile {
  path: string;
  /** Its git object id. */
  sha: string;
  /** As git stores it: `120000` is a symbolic link. */
  mode: string;
  /** null if the platform does not say. */
  size: number | null;
}

/** Only lock files of a list are kept, so it may be long; those that are not supported are named. */
export function isLockFilePath(path: string): boolean {
  return (isLockFileOrCompanion(path) || unsupportedReason(path) !== null) && !isIgnored(path);
}

/** @param get downloads one file's bytes @throws DomainError */
export async function fetchFiles(
  listed: readonly ListedFile[],
  get: (file: ListedFile) => Promise<Uint8Array>,
): Promise<CollectedFiles> {
  const found = new CollectedFiles();
  const wanted = listed.filter((file) => {
    const reason = refusalOf(file);
    if (reason !== null) found.refuse(file.path, reason);
    return reason === null;
  });
  if (wanted.length > repositoryFilesMax)
    throw new DomainError(
      "invalid_field",
      `The repository has ${wanted.length} lock files; at most ${repositoryFilesMax} are accepted: import a checkout folder by folder`,
    );
  const left = wanted.toReversed();
  const work = async (): Promise<void> => {
    for (let file = left.pop(); file !== undefined; file = left.pop()) await fetchFile(file, get, found);
  };
  try {
    await Promise.all(Array.from({ length: repositoryFetchesAtOnce }, work));
  } finally {
    // After a failure the other downloads stop.
    left.length = 0;
  }
  return found;
}

const tooLarge = `is larger than ${lockFileBytesMax / 1024 / 1024} MiB`;

function refusalOf({ path, mode, sha, size }: ListedFile): string | null {
  const unsupported = unsupportedReason(path);
  if (unsupported !== null) return unsupported;
  if (mode === "120000") return "is a link, and links are not followed";
  if (size !== null && size > lockFileBytesMax) return tooLarge;
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(sha) ? null : "has no git object";
}

async function fetchFile(file: ListedFile, get: (file: ListedFile) => Promise<Uint8Array>, found: CollectedFiles): Promise<void> {
  try {
    found.add({ path: file.path, bytes: await get(file) });
  } catch (error) {
    if (!(error instanceof DomainError && error.cause instanceof TooLargeError)) throw error;
    found.refuse(file.path, tooLarge);
  }
}
