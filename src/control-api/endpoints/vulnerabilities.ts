/**
 * Endpoints for vulnerabilities, their records, and what is known about their exploitation.
 */
import { Type } from "@sinclair/typebox";
import { listRowsMax } from "../../http/limits.ts";
import { ExploitBatch, importExploits, StoredExploits } from "../../security/findings/lists/exploits.ts";
import { pageOfVulnerabilities, VulnerabilityPage } from "../../security/findings/lists/list-vulnerabilities.ts";
import { ecosystemNames, severities } from "../../security/findings/schema.ts";
import { vulnerabilityRowsDefault } from "../../security/limits.ts";
import { VulnerabilityRecord } from "../../security/vulnerabilities/schema.ts";
import { showVulnerability } from "../../security/vulnerabilities/show.ts";
import { NamedWorkspace, parseRowLimit, parseRowOffset, rowLimit, RowOffset, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";

export const vulnerabilityEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/vulnerabilities",
    command: "vulnerability list",
    takesToolsKey: true,
    summary: "List the vulnerabilities of a workspace's components, the most severe first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      severity: Type.Optional(wordOf(severities, { title: "Only those of this severity" })),
      ecosystem: Type.Optional(wordOf(ecosystemNames, { title: "Only those with an affected component of this ecosystem" })),
      limit: rowLimit({ normal: vulnerabilityRowsDefault, max: listRowsMax }),
      offset: RowOffset,
    }),
    view: VulnerabilityPage,
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const page = {
        limit: parseRowLimit(input.limit, { normal: vulnerabilityRowsDefault, max: listRowsMax }),
        offset: parseRowOffset(input.offset),
      };
      const { severity = "all", ecosystem = "all" } = input;
      const scope = { kind: "workspace", id: workspace.id } as const;
      return pageOfVulnerabilities({ scope, severity, ecosystem, scoreMin: 0, page }, sql);
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/vulnerabilities/:id",
    command: "vulnerability show",
    takesToolsKey: true,
    summary: "Show a vulnerability by any of its ids, with what it affects and where it occurs in the workspace",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: VulnerabilityRecord,
    async handle({ input, id: named, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const { record } = await showVulnerability({ named, workspace: workspace.id, scope: { kind: "workspace" } }, sql);
      return record;
    },
  }),
};

export const exploitEndpoints = {
  import: endpoint({
    method: "POST",
    path: "/exploits",
    command: { name: "exploits import", flags: { date: null, epss: null, kev: null, etag: null, last: null } },
    summary: "Store EPSS scores and entries of CISA's catalog of known exploited vulnerabilities, a batch in one transaction",
    fields: ExploitBatch,
    view: StoredExploits,
    async handle({ input, actors, parts }) {
      actors.operator("import exploits");
      return importExploits(input, parts);
    },
  }),
};
