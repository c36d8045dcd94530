import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { MemberView } from "../workspaces/schema.ts";
import { selectMembers, type MemberRow } from "./member-store.ts";

/** All members of a workspace, with deactivated ones, by address. */
export async function listMembers(workspace: WorkspaceId, sql: Queries): Promise<MemberView[]> {
  const rows = await selectMembers({ workspace, email: null }, sql);
  return rows.map(viewMember);
}

/** `state` is that of the person's account, or `deactivated` if only the membership has ended. */
export function viewMember(row: MemberRow): MemberView {
  return { email: row.email, role: row.role, state: row.account === "active" && !row.active ? "deactivated" : row.account };
}
