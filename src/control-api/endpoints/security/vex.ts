import { Type } from "@sinclair/typebox";
import { vexBytesMax, vexExportMs } from "../../../security/findings/limits.ts";
import { exportVex, VexDocument } from "../../../security/findings/triage/export-vex.ts";
import { authorOf } from "../../../security/findings/triage/triage.ts";
import { ImportedVex, importVex } from "../../../security/findings/triage/import-vex.ts";
import { requireProject } from "../../../security/projects/projects.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { vexImportMs } from "../../limits.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace } from "../../fields.ts";

const OfProject = Type.Object({
  workspace: NamedWorkspace,
  project: line("the id or exact name of a project", { minLength: 1 }),
});

export const vexEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/vex",
    summary: "Show the findings of a project and what was decided as a CycloneDX document (VEX)",
    fields: OfProject,
    view: VexDocument,
    deadlineMs: vexExportMs,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: input.project }, parts.sql);
      using _turn = await parts.vexExports.acquire({ person: authorOf(actor), workspace: workspace.id });
      return exportVex(project, parts);
    },
  }),
  endpoint({
    method: "POST",
    path: "/vex",
    summary: "Take over the decisions of a CycloneDX document (VEX) about the findings of a project",
    file: "The document: CycloneDX in JSON, with vulnerabilities that have an analysis",
    fields: OfProject,
    view: ImportedVex,
    bodyBytesMax: vexBytesMax,
    deadlineMs: vexImportMs,
    async handle({ input, actors, file, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: input.project }, parts.sql);
      const bytes = new Uint8Array(Buffer.concat(await file()));
      return importVex({ actor, workspace: workspace.id, project, bytes }, parts);
    },
  }),
];
