/**
 * Endpoints for findings, their decisions and VEX documents, in a workspace, a product or a project. An id of another workspace is not
 * found.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import type { Queries } from "../../backing/backing.ts";
import { listRowsMax } from "../../http/limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { FindingDetails, showFinding } from "../../security/findings/details/show-finding.ts";
import { vexBytesMax, vexExportMs } from "../../security/findings/limits.ts";
import { UrgentFindings, urgentFindings } from "../../security/findings/lists/exploits.ts";
import type { ListScope } from "../../security/findings/lists/list-store.ts";
import { FindingPage, searchFindings, type SearchRequest } from "../../security/findings/lists/search-findings.ts";
import { ecosystemNames, ecosystemOfName, findingStatuses, ranksOf, severities } from "../../security/findings/schema.ts";
import { exportVex, VexDocument } from "../../security/findings/triage/export-vex.ts";
import { ImportedVex, importVex } from "../../security/findings/triage/import-vex.ts";
import { EventView, listEvents } from "../../security/findings/triage/list-events.ts";
import { TriagedMany, triageMany, authorOf } from "../../security/findings/triage/triage.ts";
import {
  decisionWaitMs,
  findingEventRowsDefault,
  findingNoteCharactersMax,
  findingRowsDefault,
  findingsTriagedMax,
} from "../../security/limits.ts";
import { requireProduct } from "../../security/projects/products.ts";
import { requireProject } from "../../security/projects/projects.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { listOf, NamedWorkspace, parseRowLimit, parseRowOffset, rowLimit, RowOffset, wordOf } from "../fields.ts";
import { controlDeadlineMs, vexImportMs } from "../limits.ts";

interface NamedScope {
  workspace: WorkspaceId;
  project: string | undefined;
  product: string | undefined;
}

/** @throws DomainError not_found for an unknown project or product; invalid_field for both */
async function scopeOf({ workspace, project, product }: NamedScope, sql: Queries): Promise<ListScope> {
  if (project !== undefined && product !== undefined) {
    throw new DomainError("invalid_field", "Cannot list a project and a product at once: name one of them", { field: "product" });
  }
  if (project !== undefined) return { kind: "project", id: await requireProject({ workspace, project }, sql) };
  if (product !== undefined) return { kind: "product", id: await requireProduct({ workspace, product }, sql) };
  return { kind: "workspace", id: workspace };
}

/** What `scopeOf` reads besides the workspace. */
const scopeFields = {
  project: Type.Optional(line("the id or exact name of a project", { minLength: 1 })),
  product: Type.Optional(line("the id or exact name of a product", { minLength: 1 })),
};

export const findingEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/findings",
    summary: "Search findings, the most severe first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      ...scopeFields,
      vulnerability: Type.Optional(line("any id of a vulnerability, such as CVE-2021-44228", { minLength: 1 })),
      severity: Type.Optional(wordOf(severities)),
      status: Type.Optional(
        wordOf(
          [...findingStatuses, "live", "false_positive"],
          `"live" (open or in progress, no false positive), "false_positive" or one of ${findingStatuses.join(", ")}`,
        ),
      ),
      ecosystem: Type.Optional(wordOf(ecosystemNames)),
      fixable: Type.Optional(wordOf(["true", "false"], "true for findings with a known version that is not affected, or false,")),
      text: Type.Optional(line("an id, or a part of a component's name", { minLength: 1 })),
      limit: rowLimit({ normal: findingRowsDefault, max: listRowsMax }),
      after: Type.Optional(line("the `next` of the page before", { minLength: 1 })),
    }),
    view: FindingPage,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const scope = await scopeOf({ workspace: workspace.id, project: input.project, product: input.product }, sql);
      const { severity = "all", status = "all", ecosystem, fixable, vulnerability = null, text = null, after = null } = input;
      const limit = parseRowLimit(input.limit, { normal: findingRowsDefault, max: listRowsMax });
      const request: SearchRequest = {
        scope,
        shown: status,
        ranks: ranksOf(severity),
        ecosystem: ecosystem === undefined ? null : ecosystemOfName(ecosystem),
        fixable: fixable === undefined ? null : fixable === "true",
        vulnerability,
        text,
        after,
        limit,
      };
      return searchFindings(request, sql);
    },
  }),
  endpoint({
    method: "PATCH",
    path: "/findings",
    summary: "Triage findings: one decision about all of them, or about none if one cannot take it",
    fields: Type.Object({
      workspace: NamedWorkspace,
      findings: Type.Array(line("the id of a finding", { minLength: 1 }), {
        minItems: 1,
        maxItems: findingsTriagedMax,
        description: `a list of 1 to ${findingsTriagedMax} ids of findings`,
      }),
      status: Type.Optional(wordOf(findingStatuses)),
      false_positive: Type.Optional(Type.Boolean({ description: "true if the matches are wrong, or false," })),
      note: Type.Optional(
        Type.String({
          maxLength: findingNoteCharactersMax,
          pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$",
          description: `a text of at most ${findingNoteCharactersMax} characters; an empty one removes the note;`,
        }),
      ),
    }),
    view: TriagedMany,
    deadlineMs: controlDeadlineMs + 2 * decisionWaitMs,
    async handle({ input, actors, parts }) {
      const { workspace: named, findings, status, false_positive: falsePositive, note } = input;
      const { actor, workspace } = await actors.inWorkspace(named);
      return triageMany({ actor, workspace: workspace.id, findings, status, falsePositive, note }, parts);
    },
  }),
  endpoint({
    method: "GET",
    path: "/urgent-findings",
    summary: "List open findings, those that are exploited and those that are most likely to be first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      ...scopeFields,
      limit: rowLimit({ normal: findingRowsDefault, max: listRowsMax }),
    }),
    view: UrgentFindings,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const scope = await scopeOf({ workspace: workspace.id, project: input.project, product: input.product }, sql);
      return urgentFindings({ scope, limit: parseRowLimit(input.limit, { normal: findingRowsDefault, max: listRowsMax }) }, sql);
    },
  }),
  endpoint({
    method: "GET",
    path: "/findings/:id",
    summary: "Show a finding: why it matches, what was decided, and the version to upgrade to",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: FindingDetails,
    async handle({ input, id, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      return showFinding({ workspace: workspace.id, id }, parts);
    },
  }),
  endpoint({
    method: "GET",
    path: "/findings/:id/events",
    summary: "List what scans and people changed of a finding, newest first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: findingEventRowsDefault, max: listRowsMax }),
      offset: RowOffset,
    }),
    view: listOf(EventView),
    async handle({ input, id, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: findingEventRowsDefault, max: listRowsMax });
      const { events } = await listEvents(
        { workspace: workspace.id, finding: id, limit, offset: parseRowOffset(input.offset) },
        sql,
      );
      return { data: events };
    },
  }),
];

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
