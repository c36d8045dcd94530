/**
 * Converts a repository's lock files to its document and the report of the import. A few small files are read directly, others in a
 * subprocess, so that the event loop stays free. The result depends only on the name and the files. Both processes run the same version of
 * this file. The first line of the input is a header; the bytes of the files follow.
 */
import { type Static, Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { byCodeUnits } from "../../kernel/text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ecosystemNameOf } from "../findings/schema.ts";
import { sbomReadHereBytesMax, repositoryNotPinnedShownMax, repositorySkippedMax } from "../limits.ts";
import { defaultChoices, type LockChoices } from "../lockfiles/formats.ts";
import { readLockFiles } from "../lockfiles/read-lock-files.ts";
import { repositoryBom } from "../lockfiles/repository-bom.ts";
import { StoredSbom } from "../projects/schema.ts";
import type { SbomReader } from "../sboms/reader.ts";
import type { ParsedBody } from "../sboms/sbom-field.ts";
import { SbomRefusal } from "../sboms/refusal.ts";
import { toSbomRows, type SbomRows } from "../sboms/sbom-rows.ts";
import { readerHead } from "../subprocess.ts";
import type { RepositoryFiles } from "./repository-files.ts";

/** @throws DomainError if nothing can be read, or reading takes too long; LimitReachedError */
export async function readInSubprocess(
  input: ReaderInput,
  { sboms, workspace }: { sboms: SbomReader; workspace: WorkspaceId },
): Promise<ReadRepository> {
  await sboms.requireDisk();
  const { files } = input.found;
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes <= sbomReadHereBytesMax) return readRepository(input.name, input.found, input.choices);
  try {
    const { sbom, rest } = await sboms.readInSubprocess({ input: encodeReaderInput(input), workspace });
    if (sbom?.rows) return { sbom: sbom.rows, ...reportOf(rest) };
    throw new DomainError("invalid_field", sbom?.refused ?? "The lock files cannot be read");
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    const advice = "import folders of the repository as separate projects";
    throw new DomainError("invalid_field", `The lock files take too long to be read: ${advice}`);
  }
}

interface ReadRepository {
  sbom: SbomRows;
  lockFiles: Static<typeof LockFileView>[];
  notRead: Static<typeof SkippedFile>[];
  notPinned: Static<typeof SkippedFile>[];
}

/**
 * @param name of the repository and its document
 * @throws DomainError if no lock file can be read, or the document is too large
 */
export function readRepository(name: string, { files, refused }: RepositoryFiles, choices = defaultChoices): ReadRepository {
  const { read, failed } = readLockFiles(files, choices);
  const notRead = [...refused, ...failed]
    .toSorted((one, other) => byCodeUnits(one.path, other.path))
    .slice(0, repositorySkippedMax);
  if (read.length === 0) throw nothingRead(name, notRead);
  return {
    sbom: sbomRowsOf({ name, files: read, notRead }),
    lockFiles: read.map((file) => ({
      path: file.path,
      ecosystem: ecosystemNameOf(file.ecosystem),
      packages: file.packages.length,
      not_pinned: file.skipped.length,
    })),
    notRead,
    notPinned: read
      .flatMap(({ path, skipped }) => skipped.map((one) => ({ path: `${path}: ${one.name}`, reason: one.reason })))
      .slice(0, repositoryNotPinnedShownMax),
  };
}

const LockFileView = Type.Object({
  path: Type.String({ description: "Within the repository" }),
  ecosystem: Type.String({ description: "npm, pypi, maven, go, cargo, rubygems or nuget" }),
  packages: Type.Integer({ description: "Number of packages that the file pins" }),
  not_pinned: Type.Integer({ description: "Number of packages without an exact version, which are not scanned" }),
});

const SkippedFile = Type.Object({
  path: Type.String({ description: "The lock file, or the lock file and the package" }),
  reason: Type.String({ description: "The reason, as the end of a sentence about the path" }),
});

/** The answer of a repository import. */
export const ImportedRepository = Type.Composite(
  [
    StoredSbom,
    Type.Object({
      project: Type.String({ description: "Name of the project" }),
      provider: Type.String({ description: "The source: github, gitlab, git or archive" }),
      repository: Type.Union([Type.String(), Type.Null()], { description: "The address; null if it has none" }),
      lock_files: Type.Array(LockFileView, { description: "The lock files that were read" }),
      not_read: Type.Array(SkippedFile, { description: "Lock files that were not read, and why" }),
      not_pinned: Type.Array(SkippedFile, { description: "The first packages without an exact version, and why" }),
    }),
  ],
  { description: "What was imported and what was skipped" },
);
export type ImportedRepository = Static<typeof ImportedRepository>;

interface ReaderInput {
  /** The repository's name. */
  name: string;
  found: RepositoryFiles;
  choices: LockChoices;
}

/** The subprocess's side: reads what `encodeReaderInput` wrote. */
export function readEncodedRepository(line: string, bytes: Uint8Array): ParsedBody {
  try {
    const { name, found, choices } = decodeReaderInput(line, bytes);
    const { sbom: rows, ...report } = readRepository(name, found, choices);
    return { sbom: { refused: null, rows }, rest: new TextEncoder().encode(JSON.stringify(report)) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { sbom: { refused: error.message, rows: null }, rest: new Uint8Array() };
  }
}

/** The first line of the input. */
interface Header {
  name: string;
  choices: LockChoices;
  refused: RepositoryFiles["refused"];
  files: { path: string; length: number }[];
}

/** @returns the header as the first line, then the bytes of the files */
function encodeReaderInput({ name, found: { files, refused }, choices }: ReaderInput): Uint8Array[] {
  const lengths = files.map(({ path, bytes }) => ({ path, length: bytes.length }));
  const header: Header = { name, choices, refused, files: lengths };
  return [readerHead("repository", JSON.stringify(header)), ...files.map(({ bytes }) => bytes)];
}

/** The subprocess returns the same as `readRepository`. */
function reportOf(rest: Uint8Array): Omit<ReadRepository, "sbom"> {
  return JSON.parse(new TextDecoder().decode(rest)) as Omit<ReadRepository, "sbom">;
}

function nothingRead(name: string, notRead: Static<typeof SkippedFile>[]): DomainError {
  const [first] = notRead;
  if (first === undefined) {
    return new DomainError(
      "invalid_field",
      `Cannot find a supported lock file in ${name}: package-lock.json, poetry.lock, pom.xml, go.mod, Cargo.lock, Gemfile.lock, packages.lock.json and others are supported`,
    );
  }
  const others =
    notRead.length > 1
      ? ` (and ${notRead.length < repositorySkippedMax ? "" : "at least "}${notRead.length - 1} more could not be read)`
      : "";
  return new DomainError("invalid_field", `No lock file of ${name} can be read: ${first.path} ${first.reason}${others}`);
}

function sbomRowsOf(content: Parameters<typeof repositoryBom>[0]): SbomRows {
  try {
    return toSbomRows(repositoryBom(content).document);
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    throw new DomainError(
      "invalid_field",
      `${error.message.replace(/^The document/, `The document of ${content.name}`)}: import its folders as separate projects`,
    );
  }
}

/** The counterpart of `encodeReaderInput`. @param line the header @param bytes the bytes of all files */
function decodeReaderInput(line: string, bytes: Uint8Array): ReaderInput {
  const { name, choices, refused, files } = parseHeader(line);
  let at = 0;
  const split = files.map(({ path, length }) => ({ path, bytes: bytes.subarray(at, (at += length)) }));
  return { name, found: { files: split, refused }, choices };
}

/** `encodeReaderInput` wrote the line, so its type holds. */
function parseHeader(line: string): Header {
  return JSON.parse(line) as Header;
}
