/**
 * Endpoints for accounts, sessions and invitations of persons. Only the invited person answers an invitation, in their own session. Members
 * whom the operator adds need not answer.
 */
import { DomainError } from "../../accounts/errors.ts";
import { setAccount, type AccountVerb } from "../../accounts/members/accounts.ts";
import { answerInvitation, noInvitation } from "../../accounts/members/members.ts";
import { resetSignIn, SignInReset } from "../../accounts/oidc/reset-sign-in.ts";
import { createLink, LinkForm, LinkView } from "../../accounts/sessions/links.ts";
import { identityOf, IdentityView, SessionView, viewSession } from "../../accounts/sessions/session.ts";
import { deleteSession, selectSessionsOf } from "../../accounts/sessions/store.ts";
import { AccountView } from "../../accounts/workspaces/schema.ts";
import { NoFields, listOf } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";

const stateEndpoint = (verb: AccountVerb, summary: string) =>
  endpoint({
    method: "POST",
    path: `/accounts/:id/${verb}`,
    command: { name: `account ${verb}`, flags: { id: "email" } },
    summary,
    fields: NoFields,
    view: AccountView,
    async handle({ id: email, actors, parts }) {
      return setAccount({ actor: actors.operator(`${verb} an account`), email, verb }, parts);
    },
  });

export const accountEndpoints = {
  suspend: stateEndpoint("suspend", "Stop a person's keys in every workspace"),
  unsuspend: stateEndpoint("unsuspend", "Let a suspended person's keys work again"),
  lock: stateEndpoint("lock", "Stop a person's keys in every workspace, as after too many wrong passwords"),
  unlock: stateEndpoint("unlock", "Let a locked person's keys work again"),
  delete: stateEndpoint("delete", "Stop a person's keys in every workspace, irrevocably"),
  reset: endpoint({
    method: "POST",
    path: "/accounts/:id/reset",
    command: { name: "account reset", flags: { id: "email" } },
    summary: "Remove a person's second factor and link to the OpenID Connect provider, and end their sessions",
    fields: NoFields,
    view: SignInReset,
    async handle({ id: email, actors, parts }) {
      const actor = actors.operator("reset a person's sign-in");
      actors.requireRecentSignIn("reset a person's sign-in");
      return resetSignIn({ actor, email }, parts);
    },
  }),
};

export const sessionEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/session",
    command: "session show",
    summary: "Show whose the credential is and the workspaces that they may see",
    fields: NoFields,
    view: IdentityView,
    handle: ({ actors, parts }) => identityOf(actors.principal, parts.sql),
  }),
  list: endpoint({
    method: "GET",
    path: "/sessions",
    command: "session list",
    summary: "List the caller's sessions in the Console, the last used first; the operator has none here",
    fields: NoFields,
    view: listOf(SessionView),
    async handle({ actors: { principal }, parts }) {
      if (principal.kind === "operator") return { data: [] };
      const sessions = await selectSessionsOf(principal.email, parts.sql);
      return { data: sessions.map(viewSession) };
    },
  }),
  end: endpoint({
    method: "DELETE",
    path: "/sessions/:id",
    command: "session end",
    summary: "End a session of the caller",
    fields: NoFields,
    view: NoFields,
    async handle({ id, actors: { principal }, parts }) {
      const email = principal.kind === "operator" ? null : principal.email;
      if (!(await deleteSession({ id, email }, parts.sql))) throw new DomainError("not_found", `There is no session "${id}"`);
      return {};
    },
  }),
  createLink: endpoint({
    method: "POST",
    path: "/session-links",
    command: "session link",
    summary: "Create a link that signs a person in to the Console, once and within an hour",
    fields: LinkForm,
    view: LinkView,
    status: 201,
    async handle({ input: { email }, actors, parts }) {
      const actor = actors.operator("create a link that signs in");
      actors.requireRecentSignIn("create a link that signs in");
      const { path, expiresAt } = await createLink({ actor, email }, parts);
      return { url: parts.publicUrl + path, expires_at: expiresAt };
    },
  }),
};

/** Only the invited person answers, in their own session. Members whom the operator adds need not answer. */
async function answer({ id, actors: { principal }, parts }: EndpointCall<object>, accepts: boolean): Promise<IdentityView> {
  if (principal.kind === "operator" || principal.carriedBy !== "session") {
    throw new DomainError("forbidden", "Cannot answer an invitation: only its person does, signed in to the Console");
  }
  const { invitations } = await identityOf(principal, parts.sql);
  const asked = invitations.find((one) => one.id === id || one.name === id);
  if (!asked) throw noInvitation();
  await answerInvitation({ person: principal, workspace: asked.id, accepts }, parts);
  return identityOf(principal, parts.sql);
}

export const invitationEndpoints = {
  accept: endpoint({
    method: "POST",
    path: "/invitations/:id/accept",
    summary: "Accept the invitation of a workspace, by its id or exact name; sessions alone",
    fields: NoFields,
    view: IdentityView,
    handle: (call) => answer(call, true),
  }),
  decline: endpoint({
    method: "POST",
    path: "/invitations/:id/decline",
    summary: "Decline the invitation of a workspace, by its id or exact name; sessions alone",
    fields: NoFields,
    view: IdentityView,
    handle: (call) => answer(call, false),
  }),
};
