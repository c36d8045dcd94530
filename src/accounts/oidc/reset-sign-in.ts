/**
 * Lets the operator remove a person's second factor and their link to the OpenID Connect provider, after a lost app or for a new account at
 * the provider. Their sessions end. The password stays. Each workspace that the person has joined gets an audit row.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Operator } from "../audit/actor.ts";
import { change, type Sources, changedFields } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { accountEvents } from "../members/accounts.ts";
import { lockAccount, selectMemberships } from "../members/store.ts";
import { deleteSecondFactor } from "../second-factor/store.ts";
import { deleteSessionsOf } from "../sessions/store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { deleteIdentitiesOf } from "./store.ts";

export const SignInReset = Type.Object({
  second_factor: Type.Boolean({ description: "Whether there was a second factor" }),
  oidc: Type.Boolean({ description: "Whether there was a link to an OpenID Connect provider" }),
});
export type SignInReset = Static<typeof SignInReset>;

/** @throws DomainError not_found */
export function resetSignIn({ actor, email: typed }: { actor: Operator; email: string }, sources: Sources): Promise<SignInReset> {
  const email = canonicalEmail(typed);
  return change(actor, sources, async (tx) => {
    const state = await lockAccount(email, tx);
    if (state === undefined) throw new DomainError("not_found", `There is no account "${email}"`, { field: "email" });
    const removed = { second_factor: await deleteSecondFactor(email, tx), oidc: await deleteIdentitiesOf(email, tx) };
    await deleteSessionsOf({ email }, tx);
    const changes = changedFields({ before: removed, after: { second_factor: false, oidc: false } });
    const memberships = await selectMemberships(email, tx);
    return { result: removed, event: accountEvents(memberships, { event: "account.signin.reset", target: email, changes }) };
  });
}
