/** The endpoints for the audit log of a workspace, or of all for the operator; and for the evidence pack, which has it as files. */
import { Type } from "@sinclair/typebox";
import { AuditView, listAudit } from "../../accounts/audit/list.ts";
import { authorize, overseers } from "../../accounts/audit/actor.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { zipResponse } from "../../http/zip-response.ts";
import { describeEvidence, evidenceFiles, EvidenceView } from "../evidence.ts";
import { listOf, NamedWorkspace, parseRowLimit, parseTime, rowLimit, timeOf, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { auditRowsMax, evidenceMs } from "../limits.ts";

export const auditEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/audit",
    command: "audit list",
    summary: "List changes and their actors, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      event: Type.Optional(line("the name of an event", { title: "Only this event, such as auth.api.key.updated" })),
      actor: Type.Optional(
        line("an e-mail address, operator or weir", { title: "Only changes of this address, of operator or of weir" }),
      ),
      target: Type.Optional(
        line("an id or an e-mail address", { title: "Only changes of the thing with this id or address", minLength: 1 }),
      ),
      from: Type.Optional(timeOf("Only from this time on")),
      to: Type.Optional(timeOf("Only before this time")),
      limit: rowLimit({ normal: auditRowsMax, max: auditRowsMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^[1-9][0-9]{0,17}$",
          title: "Only rows before this id, for the next page",
          description: "the id of an audit row",
        }),
      ),
    }),
    view: listOf(AuditView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inAnyWorkspace(input.workspace);
      authorize(actor, { roles: overseers, action: "read the audit log" });
      const limit = parseRowLimit(input.limit, { normal: auditRowsMax, max: auditRowsMax });
      const filter = {
        workspace: workspace?.id ?? null,
        event: input.event ?? null,
        actor: input.actor ?? null,
        target: input.target ?? null,
        from: parseTime(input.from, "from"),
        to: parseTime(input.to, "to"),
        before: input.before ?? null,
        limit,
      };
      return { data: await listAudit(filter, parts.reads) };
    },
  }),
};

export const evidenceEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/evidence",
    command: { name: "evidence", flags: { format: null } },
    summary: "Show the files of an evidence pack with their SHA-256: the audit log, members, keys and closed statements",
    fields: Type.Object({
      workspace: NamedWorkspace,
      from: Type.Optional(timeOf("Changes and statements from this time on; default: from the first")),
      to: Type.Optional(timeOf("Changes and statements before this time; default: now")),
      format: Type.Optional(wordOf(["json", "zip"])),
    }),
    view: EvidenceView,
    zip: true,
    deadlineMs: evidenceMs,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      authorize(actor, { roles: overseers, action: "export the evidence" });
      const to = parseTime(input.to, "to") ?? new Date(parts.clock.now());
      const asked = { actor, workspace, from: parseTime(input.from, "from"), to };
      const person = actor.kind === "member" ? actor.email : "operator";
      const turn = await parts.vexExports.acquire({ person, workspace: workspace.id });
      if (input.format !== "zip") {
        using _turn = turn;
        return describeEvidence(asked, parts);
      }
      const at = new Date(parts.clock.now());
      return zipResponse({ name: `evidence-${workspace.name}`, files: evidenceFiles(asked, parts), at, turn });
    },
  }),
};
