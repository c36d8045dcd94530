/** The endpoint for the audit log of a workspace, or of all for the operator. */
import { Type } from "@sinclair/typebox";
import { AuditView, listAudit } from "../../accounts/audit/list.ts";
import { authorize, overseers } from "../../accounts/audit/actor.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { listOf, NamedWorkspace, parseRowLimit, parseTime, rowLimit, timeOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { auditRowsMax } from "../limits.ts";

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
        from: parseTime(input.from, "from"),
        to: parseTime(input.to, "to"),
        before: input.before ?? null,
        limit,
      };
      return { data: await listAudit(filter, parts.reads) };
    },
  }),
};
