/** The answer of a repository import. */
import { Type, type Static } from "@sinclair/typebox";
import { StoredSbom } from "../projects/schema.ts";

export const LockFileView = Type.Object({
  path: Type.String({ description: "Within the repository" }),
  ecosystem: Type.String({ description: "npm, pypi, maven, go, cargo, rubygems or nuget" }),
  packages: Type.Integer({ description: "Number of packages that the file pins" }),
  not_pinned: Type.Integer({ description: "Number of packages without an exact version, which are not scanned" }),
});

export const SkippedFile = Type.Object({
  path: Type.String({ description: "The lock file, or the lock file and the package" }),
  reason: Type.String({ description: "The reason, as the end of a sentence about the path" }),
});

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
