import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { authorize, operatorOnly } from "./authorize.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "./fields.ts";
import { deleteSessionsOf } from "../sessions/session-store.ts";
import { accountEvents } from "../members/account-events.ts";
import { lockAccount, selectMemberships, updateAccount, type AccountState } from "../members/member-store.ts";
import type { AccountView } from "./schema.ts";

interface Transition {
  from: readonly AccountState[];
  to: AccountState;
  event: string;
}

/** The transitions of an account. A deleted one stays deleted. */
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
    const changes = changedFields({ before: { state }, after: { state: to } });
    return { result, event: accountEvents(memberships, { event, target: email, changes }) };
  });
}

function refusal(code: "not_found" | "conflict", message: string): DomainError {
  return new DomainError(code, message, { field: "email" });
}
