/** Programs that were unpacked into our folder, each download in a new one. */
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Program } from "./program.ts";

/** Unpacked programs get no updates of the distribution, so they are downloaded again at this age. */
const ageMsMax = 7 * 86_400_000;
/** After a failed attempt, for example without a network. */
const againMs = 86_400_000;
/** Earlier ones may be running. */
const foldersMax = 3;

export interface Unpacked {
  folder: string;
  program: Program;
  isOld: boolean;
}

export function newFolder(cache: string, binary: string, nowMs: number): string {
  return join(cache, `${binary}-${nowMs}`);
}

/** The working one that was unpacked last; null if none works. */
export function findKept(cache: string, binary: string, works: (program: Program) => boolean): Unpacked | null {
  for (const { folder, ageMs } of foldersOf(cache, binary)) {
    const program = findProgram(folder, binary);
    if (program !== null && works(program)) return { folder, program, isOld: ageMs > ageMsMax };
  }
  return null;
}

/** It counts as outdated again after a day. */
export function postpone({ folder }: Unpacked): void {
  const at = new Date(Date.now() - ageMsMax + againMs);
  utimesSync(folder, at, at);
}

/** Removes all but the last few. */
export async function removeOldest(cache: string, binary: string): Promise<void> {
  for (const { folder } of foldersOf(cache, binary).slice(foldersMax)) await rm(folder, { recursive: true, force: true });
}

export function findProgram(folder: string, binary: string): Program | null {
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const found = files.find((file) => file.name === binary && !file.isDirectory() && file.parentPath.endsWith("bin"));
  if (found === undefined) return null;
  const libraries = files.filter((file) => /\.so(\.|$)/.test(file.name)).map((file) => file.parentPath);
  return { path: join(found.parentPath, binary), libraries: [...new Set(libraries)].join(":") || null };
}

/** The newest first. The oldest ones had no time in their name. */
function foldersOf(cache: string, binary: string): { folder: string; ageMs: number }[] {
  const names = existsSync(cache) ? readdirSync(cache) : [];
  const folders = names.filter((name) => name === binary || (name.startsWith(`${binary}-`) && /-\d+$/.test(name)));
  const aged = folders.map((name) => ({ folder: join(cache, name), ageMs: Date.now() - statSync(join(cache, name)).mtimeMs }));
  return aged.toSorted((one, other) => one.ageMs - other.ageMs);
}
