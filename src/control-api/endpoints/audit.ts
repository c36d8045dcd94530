/** The endpoint for the audit log of a workspace, or of all for the operator. */
import { Type } from "@sinclair/typebox";
import { AuditView, listAudit } from "../../accounts/audit/list.ts";
import { authorize, overseers } from "../../accounts/workspaces/authorize.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { listOf, NamedWorkspace, parseRowLimit, parseTime, rowLimit, TimeField } from "../fields.ts";
import { auditRowsMax } from "../limits.ts";

export const auditEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/audit",
    summary: "List changes and their actors, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      event: Type.Optional(line("the name of an event")),
      actor: Type.Optional(line("an e-mail address, operator or weir")),
      from: Type.Optional(TimeField),
      to: Type.Optional(TimeField),
      limit: rowLimit({ normal: auditRowsMax, max: auditRowsMax }),
      before: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,17}$", description: "the id of an audit row" })),
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
];
