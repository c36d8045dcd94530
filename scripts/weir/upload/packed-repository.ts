/** Packs a repository of this machine for upload: the lock files of a folder, or an archive unchanged. */
import { readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { repositoryArchiveBytesMax } from "../../../src/control-api/limits.ts";
import { folderFiles } from "../../../src/security/repositories/repository-files.ts";
import { DomainError } from "../../../src/accounts/errors.ts";
import { originOf } from "./git-origin.ts";
import { packedFiles } from "./packed-files.ts";

export interface PackedRepository {
  body: Uint8Array<ArrayBuffer>;
  /** The repository's name, which the project gets where the user gives no other. */
  name: string;
  provider: "git" | "archive";
  /** The address of a checkout's origin, if it has one. */
  repository: string | null;
}

/** @throws DomainError when the path does not exist or cannot be sent */
export async function packedRepository(path: string): Promise<PackedRepository> {
  try {
    const facts = await stat(path);
    return facts.isDirectory() ? await packedFolder(path) : await archive(path, facts.size);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError("invalid_field", `Cannot read "${path}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function packedFolder(path: string): Promise<PackedRepository> {
  const { files, refused } = await folderFiles(path);
  if (files.length === 0) {
    const [first] = refused;
    throw new DomainError(
      "invalid_field",
      first ? `No lock file of "${path}" can be read: ${first.path} ${first.reason}` : `There is no lock file in "${path}"`,
    );
  }
  const isCheckout = await stat(join(path, ".git")).then(
    () => true,
    () => false,
  );
  // In a linked work tree or a submodule, `.git` is a file, and the configuration is elsewhere.
  const git = await readFile(join(path, ".git", "config"), "utf8").catch(() => null);
  const repository = git === null ? null : originOf(git);
  const name = repository?.replace(/^.*[/:]([^/:]+\/[^/:]+)$/, "$1") ?? basename(resolve(path));
  return { body: new Uint8Array(packedFiles(files)), name, provider: isCheckout ? "git" : "archive", repository };
}

async function archive(path: string, size: number): Promise<PackedRepository> {
  if (size > repositoryArchiveBytesMax) {
    throw new DomainError(
      "invalid_field",
      `Cannot send "${path}": it is larger than ${repositoryArchiveBytesMax / 1024 / 1024} MiB; name the unpacked folder instead, since only its lock files are sent`,
    );
  }
  const name = basename(path).replace(/\.(?:zip|tar|tgz|tar\.gz)$/i, "");
  return { body: new Uint8Array(await readFile(path)), name, provider: "archive", repository: null };
}
