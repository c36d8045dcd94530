import { Type, type Static } from "@sinclair/typebox";
import { StoredSbom } from "../projects/schema.ts";

export const LockFileView = Type.Object({
  path: Type.String({ description: "Within the repository" }),
  ecosystem: Type.String({ description: "npm, pypi, maven, go, cargo, rubygems or nuget" }),
  packages: Type.Integer({ description: "How many packages it pins" }),
  not_pinned: Type.Integer({ description: "How many it names without one version: those are not watched" }),
});

export const SkippedFile = Type.Object({
  path: Type.String({ description: "The lock file, or the lock file and the package" }),
  reason: Type.String({ description: "Words that complete a sentence about it" }),
});

export const ImportedRepository = Type.Composite(
  [
    StoredSbom,
    Type.Object({
      project: Type.String({ description: "Name of the project" }),
      provider: Type.String({ description: "Where it came from: github, gitlab, git or archive" }),
      repository: Type.Union([Type.String(), Type.Null()], { description: "Its address, where it has one" }),
      lock_files: Type.Array(LockFileView, { description: "What was read" }),
      not_read: Type.Array(SkippedFile, { description: "Lock files that were not read, and why" }),
      not_pinned: Type.Array(SkippedFile, { description: "The first packages that are pinned to no version, and why" }),
    }),
  ],
  { description: "What was imported, and what was not" },
);
export type ImportedRepository = Static<typeof ImportedRepository>;
