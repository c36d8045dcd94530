import type { AuditEvent } from "../audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** What was done to a person's account, for the audit log of each workspace that the person has joined; without one, for the operator's alone. */
export function accountEvents(
  memberships: readonly { workspace: WorkspaceId }[],
  event: Omit<AuditEvent, "workspace">,
): AuditEvent[] {
  if (memberships.length === 0) return [{ ...event, workspace: null }];
  return memberships.map(({ workspace }) => ({ ...event, workspace }));
}
