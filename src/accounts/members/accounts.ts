/**
 * The account of a person across workspaces. The operator suspends, locks, reactivates or deletes it; a deleted one stays deleted.
 *
 * A change of state and its audit rows are one transaction: a row in each workspace that the person has joined, or, without one, a row
 * without a workspace, which the operator sees. Other modules that change an account record it with `accountEvents` and `recordOwnChange`.
 * Memberships and keys stay as they are: their look-ups require an active account.
 */
import type { Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { type Actor, authorize, operatorOnly } from "../audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../audit/change.ts";
import type { AuditKind } from "../audit/events.ts";
import type { Changes } from "../audit/store.ts";
import { DomainError } from "../errors.ts";
import { deleteSessionsOf } from "../sessions/store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { AccountView } from "../workspaces/schema.ts";
import { deleteViewsOf, lockAccount, selectMemberships, updateAccount, type AccountState } from "./store.ts";
import type { Person } from "./principal.ts";

interface Transition {
  from: readonly AccountState[];
  to: AccountState;
  event: AuditKind;
}

const transitions = {
  suspend: { from: ["active"], to: "suspended", event: "account.suspended" },
  unsuspend: { from: ["suspended"], to: "active", event: "account.unsuspended" },
  lock: { from: ["active"], to: "locked", event: "account.locked" },
  unlock: { from: ["locked"], to: "active", event: "account.unlocked" },
  delete: { from: ["active", "suspended", "locked"], to: "deleted", event: "account.deleted" },
} as const satisfies Record<string, Transition>;

export type AccountVerb = keyof typeof transitions;

/**
 * Changes the state of a person's account for all their workspaces; their keys work only while it is active. Each workspace
 * that they have joined gets an audit row. Setting the same state changes nothing.
 * @throws DomainError not_found; conflict for a transition from another state; forbidden except for the operator
 */
export async function setAccount(
  { actor, email: typed, verb }: { actor: Actor; email: string; verb: AccountVerb },
  sources: Sources,
): Promise<AccountView> {
  authorize(actor, { roles: operatorOnly, action: `${verb} an account` });
  const email = canonicalEmail(typed);
  const { from, to, event }: Transition = transitions[verb];
  return change(actor, sources, async (tx) => {
    const state = await lockAccount(email, tx);
    if (state === undefined) throw refusal("not_found", `There is no account "${email}"`);
    const memberships = await selectMemberships(email, tx);
    const roles = [...new Set(memberships.map(({ role }) => role))];
    const result = { email, role: roles.length === 1 ? (roles[0] ?? null) : null, state: to };
    if (state === to) return { result, event: null };
    if (!from.includes(state)) throw refusal("conflict", `Cannot ${verb} the account "${email}": it is ${state}`);
    await updateAccount(email, to, tx);
    if (to !== "active") await deleteSessionsOf({ email }, tx);
    if (to === "deleted") await deleteViewsOf(email, tx);
    const changes = changedFields({ before: { state }, after: { state: to } });
    return { result, event: accountEvents(memberships, { event, target: email, changes }) };
  });
}

/** The audit events of what the operator did to a person's account. */
export function accountEvents(
  memberships: readonly { workspace: WorkspaceId }[],
  event: Omit<AuditEvent, "workspace">,
): AuditEvent[] {
  if (memberships.length === 0) return [{ ...event, workspace: null }];
  return memberships.map(({ workspace }) => ({ ...event, workspace }));
}

/**
 * Records what a person did to their own account, in each joined workspace under their role there. Without a workspace nothing is recorded.
 */
export async function recordOwnChange(
  { person: { email, carriedBy }, event, changes }: { person: Person; event: AuditKind; changes: Changes },
  { tx, clock }: { tx: Transaction; clock: Clock },
): Promise<void> {
  for (const { workspace, role } of await selectMemberships(email, tx)) {
    const actor = { kind: "member", email, role, carriedBy } as const;
    await change(actor, { sql: tx, clock }, async () => ({ result: null, event: { event, workspace, target: email, changes } }));
  }
}

function refusal(code: "not_found" | "conflict", message: string): DomainError {
  return new DomainError(code, message, { field: "email" });
}
