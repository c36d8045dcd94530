import { Type } from "@sinclair/typebox";
import { repositoryArchiveBytesMax, repositoryUploadMs } from "../../limits.ts";
import { repositoryAddressCharactersMax, repositoryImportMs } from "../../../security/limits.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { archiveFiles } from "../../../security/repositories/repository-files.ts";
import { importHosted, storeRepository } from "../../../security/repositories/import-repository.ts";
import { ImportedRepository } from "../../../security/repositories/read-repository.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace } from "../../fields.ts";

const address = { minLength: 1, maxLength: repositoryAddressCharactersMax };
const Project = Type.Optional(line("the id of a project, or a name", { minLength: 1 }));

export const repositoryEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/repositories",
    summary:
      "Make the lock files of a repository at GitHub or GitLab the current SBOM of a project, which is created if it does not exist",
    fields: Type.Object({
      workspace: NamedWorkspace,
      url: line("the address of a repository such as https://github.com/owner/name", address),
      project: Project,
    }),
    view: ImportedRepository,
    status: 201,
    deadlineMs: repositoryImportMs,
    async handle({ input: { workspace: named, url, project = null }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return importHosted({ actor, workspace: workspace.id, url, project }, parts);
    },
  }),
  endpoint({
    method: "POST",
    path: "/repositories/archive",
    summary:
      "Make the lock files in an archive of a repository the current SBOM of a project, which is created if it does not exist",
    file: "The archive: zip, tar or tar.gz; the lock files of a checkout are enough",
    fields: Type.Object({
      workspace: NamedWorkspace,
      name: line("the name of the repository", { minLength: 1 }),
      project: Project,
      provider: Type.Optional(
        Type.Union([Type.Literal("git"), Type.Literal("archive")], { description: '"git" for a checkout, or "archive",' }),
      ),
      repository: Type.Optional(line("the address that a checkout came from", address)),
    }),
    view: ImportedRepository,
    status: 201,
    bodyBytesMax: repositoryArchiveBytesMax,
    deadlineMs: repositoryUploadMs,
    async handle({
      input: { workspace: named, name, project = null, provider = "archive", repository = null },
      actors,
      file,
      parts,
    }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const found = await archiveFiles({ pieces: await file(), yielder: new EventLoopYielder(parts.clock) });
      const origin = { provider, repository };
      return storeRepository({ actor, workspace: workspace.id, project, name, origin, found }, parts);
    },
  }),
];
