/**
 * The members of a workspace: listed, invited, changed and reactivated.
 *
 * An admin invites a person. The membership is pending, and grants nothing, until the person accepts. Members whom the operator adds need
 * not accept. A workspace learns nothing about a person's account before they accept, and no answer shows whether an address was known.
 * Admins manage members; only super admins change or appoint a super admin. No one changes their own membership, and one active super admin
 * always remains. Deactivating is in `keys/`, because it revokes keys.
 */
import type { Queries, Database, Transaction } from "../../backing/backing.ts";
import { isoTime, monthOf, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";
import { type Actor, type Role, ownerSeenBy, authorize, managers } from "../audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../audit/change.ts";
import type { Fields } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { deleteInvitationLinks } from "../sessions/store.ts";
import { canonicalEmail, leftOf, parseAmount } from "../workspaces/fields.ts";
import type { ListedMember, MemberView, MemberForm, MemberEdit } from "../workspaces/schema.ts";
import * as store from "./store.ts";
import type { Person } from "./principal.ts";

interface Listed {
  actor: Actor;
  workspace: WorkspaceId;
  page: {
    /** Only this one; null: all of them. */
    email: string | null;
    /** A part of their address; null: any. */
    text: string | null;
    /** The last address of the page before; null: from the first. */
    after: string | null;
    limit: number;
  };
}

/** Members of a workspace by address, with deactivated ones. Only overseers see what others' keys do. */
export async function listMembers(
  { actor, workspace, page: { email, text, after, limit } }: Listed,
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<ListedMember[]> {
  const page = { email: email && canonicalEmail(email), text, after: after && canonicalEmail(after), limit };
  const rows = await store.selectListedMembers({ workspace, month: monthOf(clock.now()), ...page }, sql);
  const owner = ownerSeenBy(actor);
  return rows.map((row) => viewListed(row, owner === null || owner === row.email));
}

/** A member as the control API shows them. */
export function viewMember(row: store.MemberRow): MemberView {
  return {
    email: row.email,
    role: row.role,
    state: stateOf(row),
    monthly_spend_limit_usd: row.monthlyLimit === null ? null : formatUsd(row.monthlyLimit),
  };
}

/**
 * Adds a person as a member, and creates their account with their first workspace. A person who has not accepted is invited again. A member
 * whom the operator adds is active at once.
 * @throws DomainError conflict for a person who is a member already; forbidden except for admins and the operator
 */
export async function addMember(
  { actor, workspace, member }: { actor: Actor; workspace: WorkspaceId; member: MemberForm },
  sources: Sources,
): Promise<MemberView> {
  const email = canonicalEmail(member.email);
  const role = member.role;
  requireRightOver({ actor, email, roles: [role], action: "add a member" });
  return change(actor, sources, async (tx) => {
    const askedBy = actor.kind === "member" ? actor.email : null;
    const asked = { workspace, email, role, askedBy, at: new Date(sources.clock.now()) };
    const isNew = await store.insertMember(asked, tx);
    const row = requireMember(email, await store.lockMember({ workspace, email }, tx));
    if (!isNew) {
      if (row.consent === "given") {
        const message = row.active
          ? `"${email}" is a member of this workspace already`
          : `"${email}" was deactivated in this workspace: reactivate the member`;
        throw new DomainError("conflict", message, { field: "email" });
      }
      requireRightOver({ actor, email, roles: [row.role, role], action: "add a member" });
      await store.offerAgain(asked, tx);
    }
    const changes = changedFields({ before: {}, after: { role } });
    const event: AuditEvent = { event: "workspace.member.added", workspace, target: email, changes };
    return { result: viewMember(requireMember(email, await store.lockMember({ workspace, email }, tx))), event };
  });
}

interface Answered {
  /** The invited person. */
  person: Person;
  workspace: WorkspaceId;
  accepts: boolean;
}

/**
 * Records a person's answer to an invitation. An accepted membership is in force; a declined one grants nothing, and the workspace's list
 * says so. Mailed links of the invitation end.
 * @throws DomainError not_found where no invitation waits, even in a workspace that does not exist
 */
export async function answerInvitation(
  { person, workspace, accepts }: Answered,
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<void> {
  const email = canonicalEmail(person.email);
  await sql.begin(async (tx) => {
    const row = await store.lockMember({ workspace, email }, tx);
    if (row?.consent !== "asked" || row.account !== "active") throw noInvitation();
    const { role } = row;
    await store.updateMember(workspace, { ...row, active: accepts, consent: accepts ? "given" : "declined" }, tx);
    await deleteInvitationLinks({ email, workspace }, tx);
    const event = accepts ? "workspace.member.accepted" : "workspace.member.declined";
    await change({ kind: "member", email, role, carriedBy: person.carriedBy }, { sql: tx, clock }, async () => ({
      result: undefined,
      event: { event, workspace, target: email, changes: {} },
    }));
  });
}

/** The same error as for a workspace that does not exist, so that existing ones stay hidden. */
export function noInvitation(): DomainError {
  return new DomainError("not_found", "You have no open invitation to this workspace: it was already answered or withdrawn");
}

/**
 * Changes the role of a member in a workspace, or what they may spend in a month. Setting the same values records nothing.
 * @throws DomainError not_found; invalid_field; forbidden except for admins and the operator; conflict for the last super admin
 */
export async function setMember(
  { actor, workspace, email, edit }: { actor: Actor; workspace: WorkspaceId; email: string; edit: MemberEdit },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await store.lockMember({ workspace, email: canonicalEmail(email) }, tx));
    const after = edited(before, edit);
    const { role } = after;
    requireRightOver({ actor, email: before.email, roles: [before.role, role], action: "change a member" });
    if (before.role === "super_admin" && edit.role !== undefined)
      await requireAnotherSuperAdmin({ actor, workspace, email: before.email }, tx);
    const changes = changedFields({ before: auditedMember(before), after: auditedMember(after) });
    if (Object.keys(changes).length === 0) return { result: viewMember(before), event: null };
    await store.updateMember(workspace, after, tx);
    return {
      result: viewMember(after),
      event: { event: "workspace.member.updated", workspace, target: before.email, changes },
    };
  });
}

/** @throws DomainError not_found */
export function requireMember(email: string, row: store.MemberRow | undefined): store.MemberRow {
  if (row) return row;
  throw new DomainError("not_found", `There is no member "${email}" in this workspace`, { field: "email" });
}

/**
 * Reactivates a member. Their keys stay revoked; they can create new ones.
 * @throws DomainError not_found; conflict for a person who has not accepted, unless the operator answers for them; forbidden except for
 *   admins and the operator
 */
export async function reactivateMember(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  sources: Sources,
): Promise<MemberView> {
  return change(actor, sources, async (tx) => {
    const before = requireMember(email, await store.lockMember({ workspace, email: canonicalEmail(email) }, tx));
    requireRightOver({ actor, email: before.email, roles: [before.role], action: "reactivate a member" });
    if (before.active) return { result: viewMember(before), event: null };
    if (actor.kind === "member" && before.consent !== "given") {
      const message = `"${before.email}" has not accepted the membership: invite them again`;
      throw new DomainError("conflict", message, { field: "email" });
    }
    const after: store.MemberRow = { ...before, active: true, consent: "given" };
    await store.updateMember(workspace, after, tx);
    const event: AuditEvent = { event: "workspace.member.reactivated", workspace, target: before.email, changes: {} };
    return { result: viewMember(after), event };
  });
}

interface Intended {
  actor: Actor;
  /** The member that is to change. */
  email: string;
  /** The member's role before and afterwards. */
  roles: readonly Role[];
  /** Completes "Cannot …". */
  action: string;
}

/** Checks what a member may do to another one; the operator may do everything. @throws DomainError forbidden */
export function requireRightOver({ actor, email, roles, action }: Intended): void {
  authorize(actor, { roles: managers, action });
  if (actor.kind !== "member") return;
  const refuse = (cause: string) =>
    new DomainError("forbidden", `Cannot ${action} as ${actor.role}: ${cause}`, { field: "email" });
  if (actor.email === email) throw refuse("no one changes their own membership");
  if (roles.includes("super_admin") && actor.role !== "super_admin")
    throw refuse("it requires the role super_admin where a super admin is concerned");
}

/**
 * Keeps a workspace from losing its last active super admin through one of its members. Locks them all until the transaction ends, so
 * that two who demote each other do not both succeed.
 * @throws DomainError conflict
 */
export async function requireAnotherSuperAdmin(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  tx: Transaction,
): Promise<void> {
  if (actor.kind !== "member") return;
  const superAdmins = await store.lockSuperAdmins(workspace, tx);
  if (superAdmins.some((one) => one !== email)) return;
  throw new DomainError("conflict", `"${email}" is the last super admin of this workspace: make another one first`, {
    field: "email",
  });
}

function viewListed(row: store.ListedMemberRow, isSeen: boolean): ListedMember {
  const { activeKeys, monthSpent, seenAt } = row;
  const view = viewMember(row);
  const unknown = { reserved_usd: null, month_left_usd: null };
  if (!isSeen)
    return { ...view, ...unknown, monthly_spend_limit_usd: null, active_keys: null, month_spent_usd: null, last_seen_at: null };
  return {
    ...view,
    active_keys: activeKeys,
    month_spent_usd: formatUsd(monthSpent),
    ...unknown,
    last_seen_at: seenAt && isoTime(seenAt.getTime()),
  };
}

/** @param reserved by the open requests of the member's keys and the Workbench; null: not known */
export function memberWithReserved(member: ListedMember, reserved: NanoUsd | null): ListedMember {
  const { month_spent_usd: spent, monthly_spend_limit_usd: limit } = member;
  // What a member may not see of another stays unknown.
  if (spent === null || reserved === null) return member;
  return {
    ...member,
    reserved_usd: formatUsd(reserved),
    month_left_usd: leftOf({ limit: limit === null ? null : parseUsd(limit), spent: parseUsd(spent), reserved }),
  };
}

/** A member's state as the workspace sees it. Until the person accepts, it learns nothing about their account. */
function stateOf({ active, consent, account }: store.MemberRow): string {
  if (consent === "asked") return "pending";
  if (consent === "declined") return "declined";
  if (consent === "none") return "withdrawn";
  return account === "active" && !active ? "deactivated" : account;
}

function edited(before: store.MemberRow, { role = before.role, monthly_spend_limit_usd: text }: MemberEdit): store.MemberRow {
  if (text === undefined) return { ...before, role };
  const field = "monthly_spend_limit_usd";
  return { ...before, role, monthlyLimit: text === null ? null : parseAmount({ field, text, decimalsMax: 2 }) };
}

/** The fields by their names in the control API. */
function auditedMember({ role, monthlyLimit }: store.MemberRow): Fields {
  return { role, monthly_spend_limit_usd: monthlyLimit === null ? null : formatUsd(monthlyLimit) };
}
