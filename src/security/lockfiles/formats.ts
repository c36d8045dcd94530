/**
 * The supported lock files, by the names that their package managers give them. A new format is an entry here and its reader in
 * `formats/`.
 */
import type { Ecosystem } from "../versions/ecosystem.ts";
import { readCargoLock } from "./formats/cargo-lock.ts";
import { readGoMod } from "./formats/go-mod.ts";
import type { LockGraph } from "./lock-graph.ts";
import { readGradleLockfile, readPom } from "./formats/maven.ts";
import { readPackageLock } from "./formats/package-lock.ts";
import { readPnpmLock } from "./formats/pnpm-lock.ts";
import { readYarnLock } from "./formats/yarn-lock.ts";
import { readPackagesConfig, readNugetPackagesLock, readProjectAssets } from "./formats/nuget.ts";
import { readPdmLock, readPipfileLock, readPoetryLock, readRequirements, readUvLock } from "./formats/pypi.ts";
import { readGemfileLock } from "./formats/gemfile-lock.ts";

/** The input of a reader. */
interface LockText {
  text: string;
  /** Within the repository. */
  path: string;
  /** The text of another file in the folder; null if there is none. */
  beside(name: string): string | null;
}

export interface LockFormat {
  ecosystem: Ecosystem;
  /** The file's name without its folders. */
  names: RegExp;
  /** A file in the same folder that replaces this one. */
  replacedBy?: string;
  /** A file in the same folder that is read together with this one. */
  companion?: string;
  /** @throws LockFileError */
  read(file: LockText): LockGraph;
}

export const lockFormats: readonly LockFormat[] = [
  { ecosystem: "npm", names: /^npm-shrinkwrap\.json$/, read: ({ text }) => readPackageLock(text) },
  {
    ecosystem: "npm",
    names: /^package-lock\.json$/,
    replacedBy: "npm-shrinkwrap.json",
    read: ({ text }) => readPackageLock(text),
  },
  { ecosystem: "npm", names: /^yarn\.lock$/, read: ({ text }) => readYarnLock(text) },
  { ecosystem: "npm", names: /^pnpm-lock\.yaml$/, read: ({ text }) => readPnpmLock(text) },
  { ecosystem: "PyPI", names: /^poetry\.lock$/, read: ({ text }) => readPoetryLock(text) },
  { ecosystem: "PyPI", names: /^uv\.lock$/, read: ({ text }) => readUvLock(text) },
  { ecosystem: "PyPI", names: /^pdm\.lock$/, read: ({ text }) => readPdmLock(text) },
  { ecosystem: "PyPI", names: /^Pipfile\.lock$/, read: ({ text }) => readPipfileLock(text) },
  {
    ecosystem: "PyPI",
    names: /^(?=[\w.-]+\.txt$)(?:.*[-_.])?requirements[-_.]/i,
    read: ({ text, path }) => readRequirements(text, path),
  },
  { ecosystem: "Maven", names: /^pom\.xml$/, read: ({ text }) => readPom(text) },
  { ecosystem: "Maven", names: /^(?:buildscript-)?gradle\.lockfile$/, read: ({ text }) => readGradleLockfile(text) },
  { ecosystem: "Go", names: /^go\.mod$/, companion: "go.sum", read: ({ text, beside }) => readGoMod(text, beside("go.sum")) },
  { ecosystem: "crates.io", names: /^Cargo\.lock$/, read: ({ text }) => readCargoLock(text) },
  { ecosystem: "RubyGems", names: /^(?:Gemfile\.lock|gems\.locked)$/, read: ({ text }) => readGemfileLock(text) },
  { ecosystem: "NuGet", names: /^packages\.lock\.json$/, read: ({ text }) => readNugetPackagesLock(text) },
  { ecosystem: "NuGet", names: /^packages\.config$/, read: ({ text }) => readPackagesConfig(text) },
  { ecosystem: "NuGet", names: /^project\.assets\.json$/, read: ({ text }) => readProjectAssets(text) },
];

/** @returns null for an unsupported file */
export function lockFormatOf(path: string): LockFormat | null {
  const name = nameOf(path);
  return lockFormats.find(({ names }) => names.test(name)) ?? null;
}

/** Whether an import needs the file: a lock file or its companion. */
export function isLockFileOrCompanion(path: string): boolean {
  return lockFormatOf(path) !== null || lockFormats.some(({ companion }) => companion === nameOf(path));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
