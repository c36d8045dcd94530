/**
 * Packs the lock files of a checkout, a folder or an archive into a tar for upload. Nothing else of a repository leaves the machine.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { DomainError } from "../../src/accounts/errors.ts";
import { repositoryArchiveBytesMax } from "../../src/control-api/limits.ts";
import { trimmedEnd } from "../../src/kernel/text.ts";
import type { RepositoryFile } from "../../src/security/lockfiles/read-lock-files.ts";
import { folderFiles } from "../../src/security/repositories/repository-files.ts";
import { CallError } from "./call.ts";

export interface PackedRepository {
  body: Uint8Array<ArrayBuffer>;
  /** The repository's name, which the project gets unless the user gives another. */
  name: string;
  provider: "git" | "archive";
  /** The address of a checkout's origin, if it has one. */
  repository: string | null;
  /** Lock files of a folder that are not sent, and why. */
  refused: { path: string; reason: string }[];
}

/** @throws CallError when the path does not exist or cannot be sent */
export async function packedRepository(path: string): Promise<PackedRepository> {
  try {
    const facts = await stat(path);
    return facts.isDirectory() ? await packedFolder(path) : await archive(path, facts.size);
  } catch (error) {
    if (error instanceof CallError) throw error;
    if (error instanceof DomainError) throw new CallError(error.message, { cause: error });
    throw new CallError(`Cannot read "${path}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function packedFolder(path: string): Promise<PackedRepository> {
  const { files, refused } = await folderFiles(path);
  if (files.length === 0) {
    const [first] = refused;
    throw new CallError(
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
  return { body: await packedFiles(files), name, provider: isCheckout ? "git" : "archive", repository, refused };
}

async function archive(path: string, size: number): Promise<PackedRepository> {
  if (size > repositoryArchiveBytesMax) {
    throw new CallError(
      `Cannot send "${path}": it is larger than ${repositoryArchiveBytesMax / 1024 / 1024} MiB; name the unpacked folder instead, since only its lock files are sent`,
    );
  }
  const name = basename(path).replace(/\.(?:zip|tar|tgz|tar\.gz)$/i, "");
  return { body: new Uint8Array(await readFile(path)), name, provider: "archive", repository: null, refused: [] };
}

export async function packedFiles(files: readonly RepositoryFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const contents = Object.fromEntries(files.map(({ path, bytes }) => [path, new Uint8Array(bytes)]));
  return await new Bun.Archive(contents).bytes();
}

/**
 * The origin of a git checkout, from its configuration.
 * Source: https://git-scm.com/docs/git-config#_syntax
 * @returns the URL without user, password and a final `.git`; null: there is none, or it is on this machine
 */
export function originOf(config: string): string | null {
  const [, section = ""] = /^[ \t]*\[remote "origin"\]([^[]*)/m.exec(config) ?? [];
  const written = /^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$/m.exec(section)?.[1] ?? "";
  const [, host, path] = /^(?:[\w.-]+@)?([\w-]+\.[\w.-]+):(?!\/)(\S+)$/.exec(written) ?? [];
  const url = URL.parse(host === undefined ? written : `ssh://${host}/${path ?? ""}`);
  if (url === null || !/^(?:https?|ssh|git):$/.test(url.protocol) || url.host === "") return null;
  const scheme = url.protocol === "http:" ? "http" : "https";
  return `${scheme}://${url.hostname}${trimmedEnd(url.pathname, "/").replace(/\.git$/, "")}`;
}
