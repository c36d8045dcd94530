import type { Operator } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { accountEvents } from "../members/account-events.ts";
import { lockAccount, selectMemberships } from "../members/member-store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { createSignInLink } from "./sign-in-links.ts";

/**
 * Creates a link that signs a person in once, for the operator to hand over. Each workspace that the person has joined gets an audit row.
 * @throws DomainError not_found; conflict for an account that is not active
 */
export function createLink({ actor, email: typed }: { actor: Operator; email: string }, sources: Sources) {
  const email = canonicalEmail(typed);
  return change(actor, sources, async (tx) => {
    const state = await lockAccount(email, tx);
    if (state === undefined) throw new DomainError("not_found", `There is no account "${email}"`, { field: "email" });
    if (state !== "active") throw new DomainError("conflict", `The account "${email}" is ${state}`, { field: "email" });
    const result = await createSignInLink({ email, purpose: "sign in" }, { sql: tx, clock: sources.clock });
    const memberships = await selectMemberships(email, tx);
    return { result, event: accountEvents(memberships, { event: "account.link.created", target: email, changes: {} }) };
  });
}
