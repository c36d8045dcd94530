/** The content of lock files in tests, as short lines. */
import { readLockFiles, type ParsedLockFile, type RepositoryFile } from "../../../src/security/lockfiles/read-lock-files.ts";

export function fileOf(path: string, text: string): RepositoryFile {
  return { path, bytes: new TextEncoder().encode(text) };
}

/** @param beside the texts of other files, by their paths */
export function read(path: string, text: string, beside: Record<string, string> = {}): ParsedLockFile {
  const files = [fileOf(path, text), ...Object.entries(beside).map(([other, content]) => fileOf(other, content))];
  const { read: found, failed } = readLockFiles(files);
  const file = found.find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} was not read: ${JSON.stringify(failed)}`);
  return file;
}

/** `name@version relation scope`, in order; a dash if the file does not say. */
export function packagesIn({ packages }: ParsedLockFile): string[] {
  return packages.map(({ name, version, relation, scope }) => `${name}@${version} ${relation} ${scope ?? "-"}`);
}

/** `a > b`; the project itself is `.`. */
export function needsIn({ needs }: ParsedLockFile): string[] {
  const short = (purl: string | null) => (purl === null ? "." : decodeURIComponent(purl.replace(/^pkg:[a-z]+\//, "")));
  return needs.map(({ from, to }) => `${short(from)} > ${short(to)}`);
}

/** Why a file is refused. */
export function refusal(path: string, text: string | Uint8Array): string {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const { read: found, failed } = readLockFiles([{ path, bytes }]);
  if (failed.length !== 1) throw new Error(`${path} was read: ${JSON.stringify(found)}`);
  return failed[0]?.reason ?? "";
}
