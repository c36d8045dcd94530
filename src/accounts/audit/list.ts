/** The audit log as the control API and the Console show it, newest first, page by page. */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { isoTime } from "../../kernel/clock.ts";
import { selectAudit, type AuditFilter } from "./store.ts";

const FieldChange = Type.Object({
  from: Type.Unknown({ description: "The value before" }),
  to: Type.Unknown({ description: "The value afterwards" }),
});

export const AuditView = Type.Object({
  id: text("The number of the row: higher ones are newer"),
  at: text("The time, ISO 8601 in UTC"),
  event: text("The event, such as `auth.api.key.updated`"),
  actor: text("The actor: an e-mail address, or `operator`"),
  role: text("The role of the actor"),
  carried_by: textOrNull("The credential that a member used; null for the operator"),
  workspace_id: textOrNull("The workspace; null: none"),
  target: textOrNull("The id or address of the changed thing"),
  target_name: textOrNull("The present name of a changed key; null: another thing was changed"),
  changes: Type.Record(Type.String(), FieldChange, { description: "The changed fields only" }),
});
export type AuditView = Static<typeof AuditView>;

/** Audit rows, newest first. */
export async function listAudit(filter: AuditFilter, sql: Queries): Promise<AuditView[]> {
  const rows = await selectAudit(filter, sql);
  return rows.map((row) => ({
    id: String(row.id),
    at: isoTime(row.at.getTime()),
    event: row.event,
    actor: row.actor,
    role: row.role,
    carried_by: row.carriedBy,
    workspace_id: row.workspace,
    target: row.target,
    target_name: row.targetName,
    changes: row.changes,
  }));
}
