/**
 * Endpoints for findings, their decisions and VEX documents, in a workspace, a product or a project. Ids of other workspaces are not found.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { canonicalEmail, line } from "../../accounts/workspaces/fields.ts";
import type { Queries } from "../../backing/backing.ts";
import { listRowsMax } from "../../http/limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { FindingDetails, showFinding } from "../../security/findings/details/show-finding.ts";
import { vexBytesMax, vexExportMs } from "../../security/findings/limits.ts";
import { UrgentFindings, urgentFindings } from "../../security/findings/lists/exploits.ts";
import { countSearched, FindingCounts, FindingGroups, groupFindings } from "../../security/findings/lists/group-findings.ts";
import type { ListScope } from "../../security/findings/lists/list-store.ts";
import { FindingPage, searchFindings, type SearchRequest } from "../../security/findings/lists/search-findings.ts";
import { ecosystemNames, ecosystemOfName, findingStatuses, ranksOf, severities } from "../../security/findings/schema.ts";
import { exportVex, VexDocument, vexFormats } from "../../security/findings/vex/export-vex.ts";
import { ImportedVex, importVex } from "../../security/findings/vex/import-vex.ts";
import { EventView, listEvents } from "../../security/findings/triage/list-events.ts";
import { justifications } from "../../security/findings/decision.ts";
import { TriagedMany, triageMany, authorOf } from "../../security/findings/triage/triage.ts";
import * as limits from "../../security/limits.ts";
import { requireProduct } from "../../security/projects/products.ts";
import { requireProject } from "../../security/projects/projects.ts";
import {
  listOf,
  NamedWorkspace,
  parseRowLimit,
  parseRowOffset,
  parseTime,
  rowLimit,
  RowOffset,
  timeOf,
  wordOf,
} from "../fields.ts";
import { endpoint } from "../endpoint.ts";
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

/** The fields that `scopeOf` reads in addition to the workspace. */
const scopeFields = {
  project: Type.Optional(
    line("the id or exact name of a project", { title: "Only those of this project, by id or exact name", minLength: 1 }),
  ),
  product: Type.Optional(
    line("the id or exact name of a product", { title: "Only those of this product, by id or exact name", minLength: 1 }),
  ),
};

/** What chooses among the findings of a scope. */
const searchFields = {
  workspace: NamedWorkspace,
  ...scopeFields,
  vulnerability: Type.Optional(
    line("any id of a vulnerability, such as CVE-2021-44228", {
      title: "Only those of this vulnerability, by any of its ids",
      minLength: 1,
    }),
  ),
  severity: Type.Optional(wordOf(severities, { title: "Only those of this severity" })),
  status: Type.Optional(
    wordOf([...findingStatuses, "live", "false_positive"], {
      title: "Only those of this status; live: open or in progress, and no false positive",
      description: `"live" (open or in progress, no false positive), "false_positive" or one of ${findingStatuses.join(", ")}`,
    }),
  ),
  ecosystem: Type.Optional(wordOf(ecosystemNames, { title: "Only components of this ecosystem" })),
  fixable: Type.Optional(
    wordOf(["true", "false"], {
      title: "Only those with, or without, a version to upgrade to",
      description: "true for findings with a known version that is not affected, or false,",
    }),
  ),
  exploited: Type.Optional(
    wordOf(["true", "false"], {
      title: "Only those in, or not in, CISA's catalog of known exploited vulnerabilities",
      description: "true for findings in CISA's catalog, or false,",
    }),
  ),
  owner: Type.Optional(
    line("a person's e-mail address", { title: "Only those that this member owns, by e-mail address", minLength: 1 }),
  ),
  component: Type.Optional(
    line("the name of a component", { title: "Only those of the component with exactly this name", minLength: 1 }),
  ),
  text: Type.Optional(line("an id, or a part of a component's name", { minLength: 1 })),
  limit: rowLimit({ normal: limits.findingRowsDefault, max: listRowsMax }),
};
const SearchFields = Type.Object(searchFields);

const yesOrNo = (word: "true" | "false" | undefined): boolean | null => (word === undefined ? null : word === "true");

async function searchOf(
  input: Static<typeof SearchFields>,
  { workspace, sql }: { workspace: WorkspaceId; sql: Queries },
): Promise<Omit<SearchRequest, "after">> {
  const { severity = "all", status = "all", ecosystem, owner, component = null, vulnerability = null, text = null } = input;
  return {
    scope: await scopeOf({ workspace, project: input.project, product: input.product }, sql),
    shown: status,
    ranks: ranksOf(severity),
    ecosystem: ecosystem === undefined ? null : ecosystemOfName(ecosystem),
    fixable: yesOrNo(input.fixable),
    exploited: yesOrNo(input.exploited),
    owner: owner === undefined ? null : canonicalEmail(owner),
    named: component,
    vulnerability,
    text,
    limit: parseRowLimit(input.limit, { normal: limits.findingRowsDefault, max: listRowsMax }),
  };
}

export const findingEndpoints = {
  search: endpoint({
    method: "GET",
    path: "/findings",
    command: "finding list",
    takesToolsKey: true,
    summary: "Search findings, the most severe first",
    fields: Type.Object({
      ...searchFields,
      after: Type.Optional(
        line("the `next` of the page before", {
          title: "Only those after this finding: `next` of the page before",
          minLength: 1,
        }),
      ),
    }),
    view: FindingPage,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const search = await searchOf(input, { workspace: workspace.id, sql });
      return searchFindings({ ...search, after: input.after ?? null }, sql);
    },
  }),
  group: endpoint({
    method: "GET",
    path: "/finding-groups",
    command: "finding groups",
    takesToolsKey: true,
    summary: "List the packages or vulnerabilities of findings, those with the most severe ones first",
    fields: Type.Object({ by: wordOf(["package", "vulnerability"]), ...searchFields, offset: RowOffset }),
    view: FindingGroups,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const search = await searchOf(input, { workspace: workspace.id, sql });
      return groupFindings({ ...search, by: input.by, offset: parseRowOffset(input.offset) }, sql);
    },
  }),
  count: endpoint({
    method: "GET",
    path: "/finding-counts",
    command: "finding count",
    takesToolsKey: true,
    summary: "Count findings by severity, and those in CISA's catalog of known exploited vulnerabilities",
    fields: Type.Object({ workspace: NamedWorkspace, ...scopeFields, status: searchFields.status }),
    view: FindingCounts,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const scope = await scopeOf({ workspace: workspace.id, project: input.project, product: input.product }, sql);
      return countSearched({ scope, shown: input.status ?? "all" }, sql);
    },
  }),
  triage: endpoint({
    method: "PATCH",
    path: "/findings",
    command: {
      name: "finding set",
      flags: {
        findings: "id",
        justification: { none: "none" },
        accepted_until: { none: "none" },
        owner: { none: "none" },
        if_decided_at: null,
        seen_decided_at: null,
      },
    },
    takesToolsKey: true,
    summary: "Triage findings: one decision about all of them, or about none if one cannot take it",
    fields: Type.Object({
      workspace: NamedWorkspace,
      findings: Type.Array(line("the id of a finding", { minLength: 1 }), {
        minItems: 1,
        maxItems: limits.findingsTriagedMax,
        title: `Ids of findings; at most ${limits.findingsTriagedMax}`,
        description: `a list of 1 to ${limits.findingsTriagedMax} ids of findings`,
      }),
      status: Type.Optional(wordOf(findingStatuses, { title: "The new status" })),
      false_positive: Type.Optional(
        Type.Boolean({ title: "Whether the matches are wrong", description: "true if the matches are wrong, or false," }),
      ),
      justification: Type.Optional(
        Type.Union([wordOf(justifications), Type.Null()], {
          title: "Why it is not affected, for the status not_affected",
          description: `one of ${justifications.join(", ")}, or null,`,
        }),
      ),
      accepted_until: Type.Optional(
        Type.Union([Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), Type.Null()], {
          title: "The last day (UTC) of the accepted risk, for the status ignored: after it the finding is open again",
          description: "a day such as 2026-12-31, or null for no end,",
        }),
      ),
      owner: Type.Optional(
        Type.Union([line("a person's e-mail address", { minLength: 1 }), Type.Null()], {
          title: "The member who takes care of it",
          description: "the e-mail address of an active member, or null,",
        }),
      ),
      if_decided_at: Type.Optional(
        Type.Union([timeOf("When it was made"), Type.Null()], {
          title: "Only if the last decision is of this time, the finding's `decided_at` (ISO 8601, UTC); null: if there is none",
          description: "a time such as 2026-11-20T00:00:00Z, or null,",
        }),
      ),
      seen_decided_at: Type.Optional(
        Type.Array(Type.Union([timeOf("When it was made"), Type.Null()]), {
          title:
            "For each of `findings` in their order, the `decided_at` that was seen (ISO 8601, UTC), or null: those decided since are left, and named in the answer",
          description: "a list with a time such as 2026-11-20T00:00:00Z, or null, for each finding",
        }),
      ),
      note: Type.Optional(
        Type.String({
          maxLength: limits.findingNoteCharactersMax,
          pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$",
          title: "The reason; an empty one removes it",
          description: `a text of at most ${limits.findingNoteCharactersMax} characters; an empty one removes the note;`,
        }),
      ),
    }),
    view: TriagedMany,
    deadlineMs: controlDeadlineMs + 2 * limits.decisionWaitMs,
    async handle({ input, actors, parts }) {
      const { workspace: named, findings, status, false_positive: falsePositive, note } = input;
      const { justification, accepted_until: acceptedUntil, owner, if_decided_at: one } = input;
      const seen = input.seen_decided_at?.map((at) => (at === null ? null : parseTime(at, "seen_decided_at")));
      requireOneEach(findings, { seen, one });
      const { actor, workspace } = await actors.inWorkspace(named);
      const ifDecidedAt = one === undefined || one === null ? one : parseTime(one, "if_decided_at");
      const decided = { status, falsePositive, note, justification, acceptedUntil, owner, ifDecidedAt, seen };
      return triageMany({ actor, workspace: workspace.id, findings, ...decided }, parts);
    },
  }),
  listUrgent: endpoint({
    method: "GET",
    path: "/urgent-findings",
    command: "finding urgent",
    takesToolsKey: true,
    summary: "List open findings, those that are exploited and those that are most likely to be first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      ...scopeFields,
      limit: rowLimit({ normal: limits.findingRowsDefault, max: listRowsMax }),
    }),
    view: UrgentFindings,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const scope = await scopeOf({ workspace: workspace.id, project: input.project, product: input.product }, sql);
      return urgentFindings(
        { scope, limit: parseRowLimit(input.limit, { normal: limits.findingRowsDefault, max: listRowsMax }) },
        sql,
      );
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/findings/:id",
    command: "finding show",
    takesToolsKey: true,
    summary: "Show a finding: why it matches, what was decided, and the version to upgrade to",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: FindingDetails,
    async handle({ input, id, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      return showFinding({ workspace: workspace.id, id }, parts);
    },
  }),
  listEvents: endpoint({
    method: "GET",
    path: "/findings/:id/events",
    command: "finding events",
    takesToolsKey: true,
    summary: "List what scans and people changed of a finding, newest first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: limits.findingEventRowsDefault, max: listRowsMax }),
      offset: RowOffset,
    }),
    view: listOf(EventView),
    async handle({ input, id, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: limits.findingEventRowsDefault, max: listRowsMax });
      const { events } = await listEvents(
        { workspace: workspace.id, finding: id, limit, offset: parseRowOffset(input.offset) },
        sql,
      );
      return { data: events };
    },
  }),
};

interface SeenDecisions {
  seen: readonly unknown[] | undefined;
  /** Of all. */
  one: string | null | undefined;
}

/** @throws DomainError invalid_field */
function requireOneEach(findings: readonly string[], { seen, one }: SeenDecisions): void {
  const field = "seen_decided_at";
  if (seen === undefined) return;
  if (one !== undefined) throw new DomainError("invalid_field", `Cannot take both "if_decided_at" and "${field}"`, { field });
  if (seen.length === findings.length) return;
  const message = `Cannot take ${seen.length} values of "${field}" for ${findings.length} findings: one for each is needed`;
  throw new DomainError("invalid_field", message, { field });
}

const OfProject = Type.Object({
  workspace: NamedWorkspace,
  project: line("the id or exact name of a project", { minLength: 1 }),
});

export const vexEndpoints = {
  export: endpoint({
    method: "GET",
    path: "/vex",
    command: "vex export",
    takesToolsKey: true,
    summary: "Show the findings of a project and what was decided as a VEX document",
    fields: Type.Object({
      ...OfProject.properties,
      format: Type.Optional(wordOf(vexFormats, { title: "CycloneDX 1.6 (default), OpenVEX 0.2.0 or CSAF 2.0" })),
    }),
    view: VexDocument,
    deadlineMs: vexExportMs,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: input.project }, parts.sql);
      using _turn = await parts.vexExports.acquire({ person: authorOf(actor), workspace: workspace.id });
      return exportVex({ project, format: input.format ?? "cyclonedx" }, parts);
    },
  }),
  import: endpoint({
    method: "POST",
    path: "/vex",
    command: "vex import",
    takesToolsKey: true,
    summary: "Take over the decisions of a VEX document about the findings of a project",
    file: "The document in JSON: CycloneDX, OpenVEX 0.2.0, or CSAF 2.0 or 2.1 of the profile VEX",
    fields: OfProject,
    view: ImportedVex,
    bodyBytesMax: vexBytesMax,
    deadlineMs: vexImportMs,
    async handle({ input, actors, file, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: input.project }, parts.sql);
      return importVex({ actor, workspace: workspace.id, project, bytes: await file() }, parts);
    },
  }),
};
