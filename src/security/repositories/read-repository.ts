/** Converts a repository's lock files to its document and the report of the import. The result depends only on the name and the files. */
import type { Static } from "@sinclair/typebox";
import { byCodeUnits } from "../../kernel/by-code-units.ts";
import { repositoryNotPinnedShownMax, repositorySkippedMax } from "../limits.ts";
import { readLockFiles, type ParsedLockFile } from "../lockfiles/read-lock-files.ts";
import { repositoryBom } from "../lockfiles/repository-bom.ts";
import { ecosystemNameOf } from "../findings/ecosystem-names.ts";
import { SbomRefusal } from "../sboms/refusal.ts";
import { toSbomRows, type SbomRows } from "../sboms/sbom-rows.ts";
import type { RepositoryFiles } from "./collected-files.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { LockFileView, SkippedFile } from "./schema.ts";

export interface ReadRepository {
  sbom: SbomRows;
  lockFiles: Static<typeof LockFileView>[];
  notRead: Static<typeof SkippedFile>[];
  notPinned: Static<typeof SkippedFile>[];
}

/** @param name of the repository, which its document also gets @throws DomainError if no lock file can be read, or the document is too large */
export function readRepository(name: string, { files, refused }: RepositoryFiles): ReadRepository {
  const { read, failed } = readLockFiles(files);
  const notRead = [...refused, ...failed]
    .toSorted((one, other) => byCodeUnits(one.path, other.path))
    .slice(0, repositorySkippedMax);
  if (read.length === 0) throw nothingRead(name, notRead);
  return {
    sbom: sbomRowsOf(name, read),
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

function sbomRowsOf(name: string, read: readonly ParsedLockFile[]): SbomRows {
  try {
    return toSbomRows(repositoryBom(name, read).document);
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    throw new DomainError(
      "invalid_field",
      `${error.message.replace(/^The document/, `The document of ${name}`)}: import its folders as projects of their own`,
    );
  }
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
