import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../backing/backing.ts";
import { isoTime } from "../kernel/clock.ts";
import { selectAudit, type AuditFilter } from "./store.ts";

export const AuditView = Type.Object({
  at: Type.String(),
  event: Type.String(),
  actor: Type.String(),
  role: Type.String(),
  /** Whose authority let a member's act through; null where the actor needed none. */
  carried_by: Type.Union([Type.String(), Type.Null()]),
  workspace_id: Type.Union([Type.String(), Type.Null()]),
  target: Type.Union([Type.String(), Type.Null()]),
  changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() })),
});
export type AuditView = Static<typeof AuditView>;

/** Audit rows, newest first. */
export async function listAudit(filter: AuditFilter, sql: Queries): Promise<AuditView[]> {
  const rows = await selectAudit(filter, sql);
  return rows.map((row) => ({
    at: isoTime(row.at.getTime()),
    event: row.event,
    actor: row.actor,
    role: row.role,
    carried_by: row.carriedBy,
    workspace_id: row.workspace,
    target: row.target,
    changes: row.changes,
  }));
}
