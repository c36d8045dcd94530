/**
 * One file within an archive or a folder, and the entries of a folder. Links are never followed. Nothing is written under an entry's
 * name; a name that leaves its folder is refused because it shows that the archive is hostile.
 */
import { createReadStream } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { archiveNameCharactersMax, folderDepthMax } from "../limits.ts";
import type { Bytes } from "./byte-reader.ts";

export interface Entry {
  /** Its path within the source, with slashes. */
  name: string;
  /** Why the entry is refused; null if it can be read. */
  refusal: string | null;
  /** Can be read once, and before the next entry. @throws UnreadableError */
  bytes(): AsyncIterable<Bytes>;
}

/** For links. The caller decides whether to report them as skipped. */
export const linkRefusal = "is a link, and links are not followed";

/** No file is ever written under an entry's name, but a name that leaves its folder shows that the archive is hostile. */
export function refusalOfName(name: string): string | null {
  if (name.length > archiveNameCharactersMax) return `has a name of more than ${archiveNameCharactersMax} characters`;
  if (/^[/\\]|^[A-Za-z]:/.test(name)) return "has a name that begins at the root of a disk";
  if (name.split(/[/\\]/).includes("..")) return 'has a name that leaves its folder by ".."';
  return name.includes("\0") ? "has a name with a zero byte" : null;
}

/**
 * The regular files of a folder and its subfolders, sorted by name.
 * @param within the folder's path below the root, with a trailing slash; empty for the root
 */
export async function* folderEntries(folder: string, within = ""): AsyncGenerator<Entry> {
  const names: { name: string; isFolder: boolean }[] = [];
  for await (const entry of await opendir(join(folder, within))) {
    if (entry.isFile() || entry.isDirectory()) names.push({ name: entry.name, isFolder: entry.isDirectory() });
  }
  for (const { name, isFolder } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (!isFolder) yield fileEntry(join(folder, within, name), within + name);
    else if (within.split("/").length <= folderDepthMax) yield* folderEntries(folder, `${within}${name}/`);
    else yield { ...fileEntry("", within + name), refusal: `is more than ${folderDepthMax} folders deep` };
  }
}

function fileEntry(path: string, name: string): Entry {
  return { name, refusal: null, bytes: () => createReadStream(path) };
}
