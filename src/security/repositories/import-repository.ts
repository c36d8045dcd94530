import { Type } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { repositoryAddressCharactersMax, repositoryImportMs } from "../limits.ts";
import { lineOf } from "../api/operations/fields.ts";
import { operation } from "../api/operations/operation.ts";
import { importHosted } from "./import-hosted.ts";
import { ImportedRepository } from "./schema.ts";

export const importRepository = operation({
  title: "Import a repository",
  description:
    "Reads the lock files of a repository at GitHub or GitLab, makes them its project's present SBOM, and asks for a scan. " +
    "Call it again after changes; the same lock files change nothing.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  addition: true,
  deadlineMs: repositoryImportMs,
  input: Type.Object({
    url: lineOf({
      title: "Address of the repository, such as https://github.com/owner/name",
      min: 1,
      max: repositoryAddressCharactersMax,
    }),
    project: Type.Optional(
      lineOf({
        title: "Id or name of the project, created when new; the repository's own name when left out",
        min: 1,
        max: nameCharactersMax,
      }),
    ),
  }),
  data: ImportedRepository,
  async handle({ input: { url, project = null }, caller, parts }) {
    const imported = await importHosted({ actor: caller.actor, workspace: caller.workspace, url, project }, parts);
    return { data: imported, message: sentences(imported) };
  },
});

function sentences({ project, lock_files, not_read, not_pinned, scan_status }: ImportedRepository): string {
  const packages = lock_files.reduce((sum, file) => sum + file.packages, 0);
  return [
    `${packages} packages of ${lock_files.length} lock files are in the project "${project}", whose scan is ${scan_status}`,
    not_read.length > 0 && `${not_read.length} lock files were not read: not_read says why`,
    not_pinned.length > 0 && "Packages without one version are not watched: not_pinned names the first",
  ]
    .filter((sentence) => sentence !== false)
    .join(". ");
}
