/**
 * Endpoints for what a project is made of: uploaded SBOMs, repositories from a platform or an archive, and the sample data. Documents are read within the
 * bounds of `SbomReader`, so that uploads do not block the event loop.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { EventLoopYielder } from "../../process/event-loop-yielder.ts";
import * as limits from "../../security/limits.ts";
import {
  LoadedSample,
  loadSample,
  RemovedSample,
  removeSample,
  sampleDocuments,
  SampleView,
  viewSample,
} from "../../security/projects/sample-data.ts";
import { StoredSbom } from "../../security/projects/schema.ts";
import { storeSbom } from "../../security/projects/store-sbom.ts";
import { GoToolchain, goToolchainTitle, importHosted, storeRepository } from "../../security/repositories/import-repository.ts";
import { ImportedRepository } from "../../security/repositories/read-repository.ts";
import { archiveFiles } from "../../security/repositories/repository-files.ts";
import { SbomRefusal } from "../../security/sboms/refusal.ts";
import type { SbomRows } from "../../security/sboms/sbom-rows.ts";
import { NamedWorkspace, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { sbomUploadMs, repositoryArchiveBytesMax, repositoryUploadMs } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

interface SentDocument {
  bytes: Uint8Array;
  workspace: WorkspaceId;
}

/** @throws DomainError invalid_body with the problem of the document; LimitReachedError if too many are being read */
async function readDocument({ bytes, workspace }: SentDocument, { sboms }: ControlParts): Promise<SbomRows> {
  try {
    const { sbom } = await sboms.read({ pieces: [bytes], path: null, workspace });
    if (sbom?.rows) return sbom.rows;
    throw new DomainError("invalid_body", sbom?.refused ?? "There is no document");
  } catch (error) {
    if (error instanceof SbomRefusal) throw new DomainError("invalid_body", error.message);
    throw error;
  }
}

const Product = Type.Optional(
  line("the id of a product, or a name", {
    title: "Id or exact name of the product to put the project into; a new name makes a new one",
    minLength: 1,
  }),
);

export const sbomEndpoints = {
  upload: endpoint({
    method: "POST",
    path: "/sboms",
    command: { name: "sbom upload", flags: { filename: null } },
    takesToolsKey: true,
    summary: "Make an SBOM the current one of a project; a named project or product that does not exist is created",
    file: "The SBOM: CycloneDX 1.2 to 1.7 in JSON or XML, SPDX 2.2 or 2.3 in JSON or tag-value, SPDX 3.0 in JSON-LD",
    fields: Type.Object({
      workspace: NamedWorkspace,
      project: line("the id of a project, or a name", {
        title: "Id or exact name of the project; a new name makes a new project",
        minLength: 1,
      }),
      product: Product,
      filename: Type.Optional(line("the name of the file", { minLength: 1, maxLength: limits.sbomFilenameCharactersMax })),
    }),
    view: StoredSbom,
    status: 201,
    bodyBytesMax: limits.sbomBytesMax,
    deadlineMs: sbomUploadMs,
    async handle({ input: { workspace: named, project, product = null, filename = null }, actors, file, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const sbom = await readDocument({ bytes: await file(), workspace: workspace.id }, parts);
      return storeSbom({ actor, workspace: workspace.id, project, product, origin: null, filename, sbom }, parts);
    },
  }),
};

export const sampleEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/sample",
    command: "sample show",
    summary: "Show whether the sample data is loaded",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: SampleView,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      return viewSample(workspace.id, sql);
    },
  }),
  load: endpoint({
    method: "POST",
    path: "/sample",
    command: "sample load",
    summary: "Load the sample data: a few projects with small SBOMs of real packages, which are scanned like any upload",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: LoadedSample,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const documents = await Promise.all(
        sampleDocuments().map(async ({ bytes, ...document }) => {
          const sbom = await readDocument({ bytes, workspace: workspace.id }, parts);
          return { ...document, sbom };
        }),
      );
      return loadSample({ actor, workspace: workspace.id, documents }, parts);
    },
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/sample",
    command: {
      name: "sample remove",
      confirm: "The projects of the sample data are removed with their findings, and the decisions on these cannot be restored",
    },
    summary: "Remove the sample data: its projects with their SBOMs, findings and decisions, and nothing else",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: RemovedSample,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return removeSample({ actor, workspace: workspace.id }, parts);
    },
  }),
};

const address = { minLength: 1, maxLength: limits.repositoryAddressCharactersMax };
const Project = Type.Optional(
  line("the id of a project, or a name", {
    title: "Id or exact name of the project; a new name makes a new project; default: the repository's name",
    minLength: 1,
  }),
);

export const repositoryEndpoints = {
  import: endpoint({
    method: "POST",
    path: "/repositories",
    command: { name: "repository import", flags: { url: null, go_toolchain: { bare: true } } },
    takesToolsKey: true,
    summary:
      "Make the lock files of a repository at GitHub or GitLab the current SBOM of a project, which is created if it does not exist",
    fields: Type.Object({
      workspace: NamedWorkspace,
      url: line("the address of a repository such as https://github.com/owner/name", address),
      project: Project,
      go_toolchain: Type.Optional(GoToolchain),
    }),
    view: ImportedRepository,
    status: 201,
    deadlineMs: limits.repositoryImportMs,
    async handle({ input: { workspace: named, url, project = null, go_toolchain: goToolchain = false }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return importHosted({ actor, workspace: workspace.id, url, project, choices: { goToolchain } }, parts);
    },
  }),
  upload: endpoint({
    method: "POST",
    path: "/repositories/archive",
    command: { name: "repository import", isStep: true },
    takesToolsKey: true,
    summary:
      "Make the lock files in an archive of a repository the current SBOM of a project, which is created if it does not exist",
    file: "The archive: zip, tar or tar.gz; the lock files of a checkout are enough",
    fields: Type.Object({
      workspace: NamedWorkspace,
      name: line("the name of the repository", { minLength: 1 }),
      project: Project,
      product: Product,
      provider: Type.Optional(
        Type.Union([Type.Literal("git"), Type.Literal("archive")], { description: '"git" for a checkout, or "archive",' }),
      ),
      repository: Type.Optional(line("the address that a checkout came from", address)),
      go_toolchain: Type.Optional(wordOf(["true", "false"], { title: goToolchainTitle, description: "true or false" })),
    }),
    view: ImportedRepository,
    status: 201,
    bodyBytesMax: repositoryArchiveBytesMax,
    deadlineMs: repositoryUploadMs,
    async handle({ input, actors, file, parts }) {
      const { name, project = null, product = null, provider = "archive", repository = null } = input;
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const found = await archiveFiles({ bytes: await file(), yielder: new EventLoopYielder(parts.clock) });
      const origin = { provider, repository };
      const choices = { goToolchain: input.go_toolchain === "true" };
      return storeRepository({ actor, workspace: workspace.id, project, product, name, origin, found, choices }, parts);
    },
  }),
};
