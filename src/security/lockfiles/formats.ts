/**
 * The supported lock files, by the names that their package managers give them. A new format is an entry here and its reader in
 * `formats/`. Lock files of other package managers are known by name, so that an import says that it left them out.
 */
import type { Ecosystem } from "../versions/ecosystem.ts";
import { readBunLock } from "./formats/bun-lock.ts";
import { readCargoLock } from "./formats/cargo-lock.ts";
import { readGoMod } from "./formats/go-mod.ts";
import type { LockGraph } from "./lock-graph.ts";
import { readGradleLockfile, readPom } from "./formats/maven.ts";
import { readPackageLock } from "./formats/package-lock.ts";
import { readPnpmLock } from "./formats/pnpm-lock.ts";
import { readYarnLock } from "./formats/yarn-lock.ts";
import { readPackagesConfig, readNugetPackagesLock, readProjectAssets } from "./formats/nuget.ts";
import { readPdmLock, readPipfileLock, readPoetryLock, readPylock, readUvLock } from "./formats/pypi.ts";
import { readRequirements, type RequirementFiles } from "./formats/requirements.ts";
import { readGemfileLock } from "./formats/gemfile-lock.ts";

/** The input of a reader. */
interface LockText {
  text: string;
  /** Within the repository. */
  path: string;
  /** The text of another file in the folder; null if there is none. */
  beside(name: string): string | null;
  /** The repository's requirement files, which include one another. */
  requirements: RequirementFiles;
  choices: LockChoices;
}

/** What the user decides about an import. */
export interface LockChoices {
  /** Whether go.mod's line `toolchain`, else `go`, counts as the package `stdlib`. */
  goToolchain: boolean;
}

export const defaultChoices: LockChoices = { goToolchain: false };

export interface LockFormat {
  ecosystem: Ecosystem;
  /** The file's name without its folders. */
  names: RegExp;
  /** The name of the only folder in which the name counts. */
  folder?: string;
  /** How a file says in which encoding it is, other than by a byte order mark; without, it is UTF-8. */
  encoding?: "xml" | "python";
  /** A file in the same folder that replaces this one. */
  replacedBy?: string;
  /** The names of files that are read together with this one. */
  companion?: RegExp;
  /** @throws LockFileError */
  read(file: LockText): LockGraph;
}

const requirementsFormat = {
  ecosystem: "PyPI",
  encoding: "python",
  companion: /^(?=[\w.-]+\.txt$)(?:.*[-_.])?constraints[-_.]/i,
  read: ({ path, requirements }) => readRequirements(path, requirements),
} satisfies Partial<LockFormat>;

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
  { ecosystem: "npm", names: /^bun\.lock$/, read: ({ text }) => readBunLock(text) },
  { ecosystem: "PyPI", names: /^poetry\.lock$/, read: ({ text }) => readPoetryLock(text) },
  { ecosystem: "PyPI", names: /^uv\.lock$/, read: ({ text }) => readUvLock(text) },
  { ecosystem: "PyPI", names: /^pdm\.lock$/, read: ({ text }) => readPdmLock(text) },
  { ecosystem: "PyPI", names: /^Pipfile\.lock$/, read: ({ text }) => readPipfileLock(text) },
  { ecosystem: "PyPI", names: /^pylock\.(?:[^.]+\.)?toml$/, read: ({ text }) => readPylock(text) },
  { ...requirementsFormat, names: /^(?=[\w.-]+\.txt$)(?:.*[-_.])?requirements[-_.]/i },
  { ...requirementsFormat, names: /^(?!(?:.*[-_.])?constraints[-_.]).+\.txt$/i, folder: "requirements" },
  { ecosystem: "Maven", names: /^pom\.xml$/, encoding: "xml", read: ({ text }) => readPom(text) },
  { ecosystem: "Maven", names: /^(?:buildscript-)?gradle\.lockfile$/, read: ({ text }) => readGradleLockfile(text) },
  {
    ecosystem: "Go",
    names: /^go\.mod$/,
    companion: /^go\.sum$/,
    read: ({ text, beside, choices }) => readGoMod({ text, sum: beside("go.sum"), withToolchain: choices.goToolchain }),
  },
  { ecosystem: "crates.io", names: /^Cargo\.lock$/, read: ({ text }) => readCargoLock(text) },
  { ecosystem: "RubyGems", names: /^(?:Gemfile\.lock|gems\.locked)$/, read: ({ text }) => readGemfileLock(text) },
  { ecosystem: "NuGet", names: /^packages\.lock\.json$/, read: ({ text }) => readNugetPackagesLock(text) },
  { ecosystem: "NuGet", names: /^packages\.config$/, encoding: "xml", read: ({ text }) => readPackagesConfig(text) },
  { ecosystem: "NuGet", names: /^project\.assets\.json$/, read: ({ text }) => readProjectAssets(text) },
];

/** @returns null for an unsupported file */
export function lockFormatOf(path: string): LockFormat | null {
  const [name = "", folder] = path.split("/").toReversed();
  return lockFormats.find((format) => format.names.test(name) && (format.folder ?? folder) === folder) ?? null;
}

/** Whether an import needs the file: a lock file or its companion. */
export function isLockFileOrCompanion(path: string): boolean {
  return lockFormatOf(path) !== null || lockFormats.some(({ companion }) => companion?.test(nameOf(path)));
}

/** By the names in the documentation of each package manager. */
const unsupportedFiles: readonly [names: RegExp, reason: string][] = [
  [/^bun\.lockb$/, "is Bun's binary lock file: bun install --save-text-lockfile writes the bun.lock that is read"],
  [/^deno\.lock$/, "is of Deno, whose lock file is not read"],
  [/^paket\.lock$/, "is of Paket, whose lock file is not read"],
  [/^(?:conda-lock\.ya?ml|pixi\.lock)$/, "is of Conda, whose lock files are not read"],
  [/^(?:Gopkg|glide)\.lock$/, "is of a package manager from before Go's modules, whose lock file is not read"],
  [/^composer\.lock$/, "is of PHP, whose packages are not watched"],
  [/^pubspec\.lock$/, "is of Dart, whose packages are not watched"],
  [/^mix\.lock$/, "is of Elixir, whose packages are not watched"],
  [/^(?:Package\.resolved|Cartfile\.resolved|Podfile\.lock)$/, "is of Swift, whose packages are not watched"],
  [/^conan\.lock$/, "is of C and C++, whose packages are not watched"],
  [/^renv\.lock$/, "is of R, whose packages are not watched"],
  [/^(?:stack\.yaml\.lock|cabal\.project\.freeze)$/, "is of Haskell, whose packages are not watched"],
];

/** Why a lock file of another package manager is left out; null for any other file. */
export function unsupportedReason(path: string): string | null {
  return unsupportedFiles.find(([names]) => names.test(nameOf(path)))?.[1] ?? null;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
