import { Type } from "@sinclair/typebox";
import { AuditView, listAudit } from "../../../accounts/audit/list.ts";
import { auditRowsMax } from "../../limits.ts";
import { authorize, overseers } from "../../../accounts/workspaces/authorize.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { listOf, NamedWorkspace, parseRowLimit, rowLimit } from "../../fields.ts";

export const auditEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/audit",
    summary: "List changes and their actors, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      event: Type.Optional(line("the name of an event")),
      limit: rowLimit(auditRowsMax),
    }),
    view: listOf(AuditView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inAnyWorkspace(input.workspace);
      authorize(actor, { roles: overseers, action: "read the audit log" });
      const limit = parseRowLimit(input.limit, { normal: auditRowsMax, max: auditRowsMax });
      const filter = { workspace: workspace?.id ?? null, event: input.event ?? null, limit };
      return { data: await listAudit(filter, parts.sql) };
    },
  }),
];
