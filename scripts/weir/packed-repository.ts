/**
 * Packs the lock files of a checkout, a folder or an archive for an upload. Nothing else of a repository leaves the machine.
 *
 * The tar is POSIX.1-2017 in the pax interchange format, the only one in which the service takes repositories.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { DomainError } from "../../src/accounts/errors.ts";
import { repositoryArchiveBytesMax } from "../../src/control-api/limits.ts";
import { trimmedEnd } from "../../src/kernel/text.ts";
import type { RepositoryFile } from "../../src/security/lockfiles/read-lock-files.ts";
import { folderFiles } from "../../src/security/repositories/repository-files.ts";

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

const blockBytes = 512;

export function packedFiles(files: readonly RepositoryFile[]): Buffer {
  return Buffer.concat([...files.flatMap(packed), Buffer.alloc(blockBytes * 2)]);
}

/** The name is in a pax header before the file, where it may have any length and any characters. */
function packed({ path, bytes }: RepositoryFile): Uint8Array[] {
  const name = Buffer.from(paxField("path", path));
  return [
    header("pax", name.length, "x"),
    name,
    padding(name.length),
    header("file", bytes.length, "0"),
    bytes,
    padding(bytes.length),
  ];
}

/** `<length> <key>=<value>\n`. The length counts its own digits. */
function paxField(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  let length = restBytes + 1;
  while (String(length).length + restBytes !== length) length = String(length).length + restBytes;
  return `${length}${rest}`;
}

function header(name: string, size: number, type: "0" | "x"): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("        ", 148);
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function padding(length: number): Buffer {
  return Buffer.alloc((blockBytes - (length % blockBytes)) % blockBytes);
}

/**
 * The origin of a git checkout, from its configuration.
 * Source: https://git-scm.com/docs/git-config#_syntax
 * @returns the URL without user, password and a final `.git`; null: the configuration names none, or one on this machine
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
