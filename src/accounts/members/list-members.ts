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
  return rows.map((row) => viewListed(row, owner === null || owner === row.email));
}

function viewListed(row: ListedMemberRow, isSeen: boolean): ListedMember {
  const { activeKeys, monthSpent, lastSeenAt } = row;
  const view = viewMember(row);
  if (!isSeen) return { ...view, monthly_spend_limit_usd: null, active_keys: null, month_spent_usd: null, last_seen_at: null };
  return {
    ...view,
    active_keys: activeKeys,
    month_spent_usd: formatUsd(monthSpent),
    last_seen_at: lastSeenAt && isoTime(lastSeenAt.getTime()),
  };
}

/** `state` is that of the person's account, or `deactivated` if only the membership has ended. */
export function viewMember(row: MemberRow): MemberView {
  return {
    email: row.email,
    role: row.role,
    state: row.account === "active" && !row.active ? "deactivated" : row.account,
    monthly_spend_limit_usd: row.monthlyLimit === null ? null : formatUsd(row.monthlyLimit),
  };
}
