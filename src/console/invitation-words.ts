import type { IdentityView } from "../accounts/sessions/session.ts";
import { markup, type Html } from "../http/html.ts";
import { userText } from "./look/user-text.ts";
import { roleName } from "./role-name.ts";

export type Invitation = IdentityView["invitations"][number];

/** Who invites to what, and what accepting means. */
export function invitationWords({ name, role, invited_by: by }: Invitation): Html {
  const who = by === null ? markup`An admin` : markup`<strong>${userText(by)}</strong>`;
  return markup`<p>${who} invites you to the workspace <strong>${userText(name)}</strong> with the role ${roleName(role).toLowerCase()}.
    Its admins and auditors then see when you last used it, and when you change how you sign in.</p>`;
}
