/** The regular files of a folder and its subfolders, sorted by name; links are not followed. */
import { createReadStream } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { folderDepthMax } from "../limits.ts";
import type { Entry } from "./entry.ts";

/** @param within the folder's path below the root, with a slash at its end; empty for the root */
export async function* folderEntries(folder: string, within = ""): AsyncGenerator<Entry> {
  const names: { name: string; isFolder: boolean }[] = [];
  for await (const entry of await opendir(join(folder, within))) {
    if (entry.isFile() || entry.isDirectory()) names.push({ name: entry.name, isFolder: entry.isDirectory() });
  }
  for (const { name, isFolder } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (!isFolder) yield fileEntry(join(folder, within, name), within + name);
    else if (within.split("/").length <= folderDepthMax) yield* folderEntries(folder, `${within}${name}/`);
    else yield { ...fileEntry("", within + name), refusal: `lies more than ${folderDepthMax} folders deep` };
  }
}

export function fileEntry(path: string, name: string): Entry {
  return { name, refusal: null, bytes: () => createReadStream(path) };
}
