import { createLink, LinkForm, LinkView } from "../../../accounts/sessions/links.ts";
import { identityOf, IdentityView, SessionView, viewSession } from "../../../accounts/sessions/session.ts";
import { deleteSession, selectSessionsOf } from "../../../accounts/sessions/store.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { listOf, NoFields } from "../../fields.ts";

export const sessionEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/session",
    summary: "Show who the credential is and the workspaces that they may see",
    fields: NoFields,
    view: IdentityView,
    handle: ({ actors, parts }) => identityOf(actors.principal, parts.sql),
  }),
  endpoint({
    method: "GET",
    path: "/sessions",
    summary: "List the caller's sessions in the Console, the last used first; the operator has none here",
    fields: NoFields,
    view: listOf(SessionView),
    async handle({ actors: { principal }, parts }) {
      if (principal.kind === "operator") return { data: [] };
      const sessions = await selectSessionsOf(principal.email, parts.sql);
      return { data: sessions.map(viewSession) };
    },
  }),
  endpoint({
    method: "DELETE",
    path: "/sessions/:id",
    summary: "End a session of the caller",
    fields: NoFields,
    view: NoFields,
    async handle({ id, actors: { principal }, parts }) {
      const email = principal.kind === "operator" ? null : principal.email;
      if (!(await deleteSession({ id, email }, parts.sql))) throw new DomainError("not_found", `There is no session "${id}"`);
      return {};
    },
  }),
  endpoint({
    method: "POST",
    path: "/session-links",
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
];
