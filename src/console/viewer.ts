/**
 * Who looks at a page: a session with the workspaces that it may see and the roles in them, and roles and invitations in words. Membership
 * is read with each request, so a person who loses it loses the page at once.
 */
import type { Role } from "../accounts/audit/actor.ts";
import { defaultViewsMax } from "../accounts/limits.ts";
import type { Principal } from "../accounts/members/principal.ts";
import { selectDefaultViews, type DefaultView } from "../accounts/members/store.ts";
import { sessionToken } from "../accounts/sessions/browser.ts";
import { identityOf, findSession, type IdentityView } from "../accounts/sessions/session.ts";
import type { Session } from "../accounts/sessions/store.ts";
import type { ControlParts } from "../control-api/parts.ts";
import { principalOf } from "../control-api/authenticate.ts";
import { markup, type Html } from "../http/html.ts";
import { userText } from "./look/parts.ts";
import { themeOf, type Theme } from "./look/theme.ts";
import { zoneOf } from "./time-zone.ts";

export type ViewerRole = Role | "operator";

export interface Viewer {
  session: Session;
  /** The cookie's value. */
  token: string;
  principal: Principal;
  /** Whether they may open the operator's pages. */
  operates: boolean;
  /** null: the operator. */
  email: string | null;
  workspaces: { id: string; name: string; role: ViewerRole }[];
  /** Of the browser. */
  theme: Theme;
  /** How many workspaces have invited them and await an answer. */
  invitations: number;
  /** The time zone of their days. */
  zone: string;
  /** With which the menu opens lists. A page that refreshes itself keeps its menu, and asks for none. */
  defaultViews: readonly DefaultView[];
}

/** null: no one is signed in. */
export async function findViewer(request: Request, { sql, clock }: ControlParts): Promise<Viewer | null> {
  const token = sessionToken(request);
  const isUse = !isPoll(request);
  const session = token === null ? null : await findSession(token, { sql, clock, isUse });
  if (token === null || session === null) return null;
  const principal = principalOf(session);
  const { email, workspaces, invitations } = await identityOf(principal, sql);
  const defaultViews = email === null || !isUse ? [] : await selectDefaultViews({ email, limit: defaultViewsMax }, sql);
  return {
    session,
    token,
    principal,
    operates: principal.kind === "operator" || principal.operates === true,
    email,
    workspaces,
    invitations: invitations.length,
    theme: themeOf(request),
    zone: zoneOf(request),
    defaultViews,
  };
}

/** Whether a page that refreshes itself asks for what is new. No browser does so by itself, since no page is stored. */
export function isPoll({ method, headers }: Request): boolean {
  return method === "GET" && headers.has("if-none-match");
}

/** The viewer as the operator, on whose pages they are no member. */
export function asOperator(viewer: Viewer): Viewer {
  const { provedAt, bothFactors } = viewer.session;
  return { ...viewer, principal: { kind: "operator", provedAt, bothFactors }, email: null };
}

export function isOperator({ principal }: Viewer): boolean {
  return principal.kind === "operator";
}

const words: Record<ViewerRole, string> = {
  member: "Member",
  auditor: "Auditor",
  admin: "Admin",
  super_admin: "Super admin",
  operator: "Operator",
};

/** A role in words. */
export function roleName(role: ViewerRole): string {
  return words[role];
}

export type Invitation = IdentityView["invitations"][number];

/** Who invites to what, and what accepting means. */
export function invitationWords({ name, role, invited_by: by }: Invitation): Html {
  const who = by === null ? markup`An admin` : markup`<strong>${userText(by)}</strong>`;
  return markup`<p>${who} invites you to the workspace <strong>${userText(name)}</strong> with the role ${roleName(role).toLowerCase()}.
    Its admins and auditors then see when you last used it, and when you change how you sign in.</p>`;
}
