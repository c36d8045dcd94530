import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime, monthOf, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import { ownerSeenBy } from "../workspaces/authorize.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { ListedMember, MemberView } from "../workspaces/schema.ts";
import { selectListedMembers, type ListedMemberRow, type MemberRow } from "./member-store.ts";

interface Listed {
  actor: Actor;
  workspace: WorkspaceId;
  page: {
    /** Only this one; null: all of them. */
    email: string | null;
    /** The last address of the page before; null: from the first. */
    after: string | null;
    limit: number;
  };
}

/** Members of a workspace by address, with deactivated ones. What the keys of others do is shown to overseers alone. */
export async function listMembers(
  { actor, workspace, page: { email, after, limit } }: Listed,
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<ListedMember[]> {
  const page = { email: email && canonicalEmail(email), after: after && canonicalEmail(after), limit };
  const rows = await selectListedMembers({ workspace, month: monthOf(clock.now()), ...page }, sql);
  const owner = ownerSeenBy(actor);
  return rows.map((row) => ({ ...viewMember(row), ...viewUse(row, owner === null || owner === row.email) }));
}

function viewUse({ activeKeys, monthSpent, lastSeenAt }: ListedMemberRow, isSeen: boolean): Omit<ListedMember, keyof MemberView> {
  if (!isSeen) return { active_keys: null, month_spent_usd: null, last_seen_at: null };
  return {
    active_keys: activeKeys,
    month_spent_usd: formatUsd(monthSpent),
    last_seen_at: lastSeenAt && isoTime(lastSeenAt.getTime()),
  };
}

/** `state` is that of the person's account, or `deactivated` if only the membership has ended. */
export function viewMember(row: MemberRow): MemberView {
  return { email: row.email, role: row.role, state: row.account === "active" && !row.active ? "deactivated" : row.account };
}
