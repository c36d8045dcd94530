import { DomainError } from "../../../accounts/errors.ts";
import { answerInvitation, noInvitation } from "../../../accounts/members/members.ts";
import { identityOf, IdentityView } from "../../../accounts/sessions/session.ts";
import { endpoint, type Endpoint, type EndpointCall } from "../../endpoint.ts";
import { NoFields } from "../../fields.ts";

/** Only the person answers, by a session of their own: the operator token adds members at once, and so never has to. */
async function answer({ id, actors: { principal }, parts }: EndpointCall<object>, accepts: boolean): Promise<IdentityView> {
  if (principal.kind === "operator" || principal.carriedBy !== "session") {
    throw new DomainError("forbidden", "Cannot answer an invitation: only its person does, signed in to the Console");
  }
  const { invitations } = await identityOf(principal, parts.sql);
  const asked = invitations.find((one) => one.id === id || one.name === id);
  if (!asked) throw noInvitation();
  await answerInvitation({ person: principal, workspace: asked.id, accepts }, parts);
  parts.notify("records-changed");
  return identityOf(principal, parts.sql);
}

export const invitationEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/invitations/:id/accept",
    summary: "Accept the invitation of a workspace, by its id or exact name; sessions alone",
    fields: NoFields,
    view: IdentityView,
    handle: (call) => answer(call, true),
  }),
  endpoint({
    method: "POST",
    path: "/invitations/:id/decline",
    summary: "Decline the invitation of a workspace, by its id or exact name; sessions alone",
    fields: NoFields,
    view: IdentityView,
    handle: (call) => answer(call, false),
  }),
];
