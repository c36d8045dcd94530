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
  const { activeKeys, monthSpent, seenAt } = row;
  const view = viewMember(row);
  if (!isSeen) return { ...view, monthly_spend_limit_usd: null, active_keys: null, month_spent_usd: null, last_seen_at: null };
  return {
    ...view,
    active_keys: activeKeys,
    month_spent_usd: formatUsd(monthSpent),
    last_seen_at: seenAt && isoTime(seenAt.getTime()),
  };
}

/** A member as the control API shows them. */
export function viewMember(row: MemberRow): MemberView {
  return {
    email: row.email,
    role: row.role,
    state: stateOf(row),
    monthly_spend_limit_usd: row.monthlyLimit === null ? null : formatUsd(row.monthlyLimit),
  };
}

/** What a workspace learns of a person. Before they accepted, it is nothing of their account. */
function stateOf({ active, consent, account }: MemberRow): string {
  if (consent === "asked") return "pending";
  if (consent === "declined") return "declined";
  if (consent === "none") return "withdrawn";
  return account === "active" && !active ? "deactivated" : account;
}
