/** A link that signs in once. Opening it shows a button: programs that look at links in mails must not use it up. */
import { DomainError } from "../../accounts/errors.ts";
import { answerInvitation } from "../../accounts/members/members.ts";
import type { Person } from "../../accounts/members/principal.ts";
import { identityOf } from "../../accounts/sessions/session.ts";
import { type SignInLink, selectPasswordHash } from "../../accounts/sessions/store.ts";
import { findSignInLink, takeSignInLink } from "../../accounts/sessions/links.ts";
import { markup, type Html } from "../../http/html.ts";
import { actionButton, emptyForm, form } from "../look/forms/form.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import { saidCookie, seeOther, workspacePath } from "../redirect.ts";
import { invitationWords, type Invitation } from "../invitation-words.ts";
import type { SignInCall } from "./sign-in-call.ts";
import { openSession } from "./open-session.ts";
import { afterFirstStep } from "./second-step.ts";

type LinkCall = SignInCall & { token: string };

/** null: the path is of no link. */
export async function linkAnswer(call: SignInCall, parts: ConsoleParts): Promise<Response | null> {
  const [, token, declines] = /^\/link\/([^/]+?)(\/decline)?$/.exec(call.path) ?? [];
  if (token === undefined) return null;
  if (call.request.method !== "POST") return linkPage({ ...call, token }, parts);
  return declines === undefined ? followLink({ ...call, token }, parts) : declineLink({ ...call, token }, parts);
}

async function linkPage({ token, viewer }: LinkCall, parts: ConsoleParts): Promise<Response> {
  const link = requireLink(await findSignInLink(token, parts.control));
  const invitation = await invitationOf(link, parts);
  if (invitation !== null)
    return plainResponse({ title: "An invitation", main: invitationMain(link, invitation, { token, viewer }) });
  const goOn = link.purpose === "sign in" ? "Sign in" : "Sign in and choose a password";
  const main = markup`<p>This link signs you in as <strong dir="auto">${link.email}</strong>, once.</p>
    ${form({ id: "link", action: `/console/link/${token}`, fields: [], state: emptyForm, submit: goOn })}`;
  return plainResponse({ title: "Sign in", main });
}

function invitationMain(
  { email }: SignInLink,
  invitation: Invitation,
  { token, viewer }: Pick<LinkCall, "token" | "viewer">,
): Html {
  const isSignedIn = viewer?.email === email;
  const signsIn = isSignedIn ? null : markup`<p>Accepting signs you in as <strong dir="auto">${email}</strong>, once.</p>`;
  const accept = form({
    id: "accept",
    action: `/console/link/${token}`,
    fields: [],
    state: emptyForm,
    submit: isSignedIn ? "Accept" : "Accept and sign in",
  });
  const decline = actionButton({ action: `/console/link/${token}/decline`, label: "Decline" });
  return markup`${invitationWords(invitation)}${signsIn}<div class="actions">${accept}${decline}</div>`;
}

async function followLink(call: LinkCall, parts: ConsoleParts): Promise<Response> {
  const link = await takenLink(call, parts);
  const { email, purpose } = link;
  const invitation = await invitationOf(link, parts);
  if (invitation !== null) return await accept({ email, invitation }, call, parts);
  // The operator made this link on the machine, and hands it to the person: it stands for both factors. A mail stands for one.
  if (purpose === "sign in") return await openSession({ email, way: "link", bothFactors: true, next: "/console" }, call, parts);
  return await afterFirstStep({ email, way: "link", next: "/console/account?choose=password" }, call, parts);
}

/** The mail came to the person, so their click is their consent; a session takes the second factor too, where there is one. */
async function accept(
  { email, invitation }: { email: string; invitation: Invitation },
  call: LinkCall,
  parts: ConsoleParts,
): Promise<Response> {
  const { control } = parts;
  await answerInvitation({ person: personOf(email), workspace: invitation.id, accepts: true }, control);
  control.notify("records-changed");
  const home = workspacePath(invitation.name);
  if (call.viewer?.email === email) return seeOther(home);
  const hasPassword = (await selectPasswordHash(email, control.sql)) !== null;
  return afterFirstStep({ email, way: "link", next: hasPassword ? home : "/console/account?choose=password" }, call, parts);
}

/** Declining needs no session, and starts none. */
async function declineLink(call: LinkCall, parts: ConsoleParts): Promise<Response> {
  const link = await takenLink(call, parts);
  const invitation = await invitationOf(link, parts);
  if (invitation === null) throw unusable();
  await answerInvitation({ person: personOf(link.email), workspace: invitation.id, accepts: false }, parts.control);
  const said = { said: `You have declined the invitation to ${invitation.name}.` };
  return seeOther(call.viewer === null ? "/console/sign-in" : "/console", [saidCookie(said, call.request)]);
}

/** null: the link is of no invitation, or the person is a member by now. */
async function invitationOf({ email, workspace }: SignInLink, { control }: ConsoleParts): Promise<Invitation | null> {
  if (workspace === null) return null;
  const { invitations } = await identityOf(personOf(email), control.sql);
  return invitations.find(({ id }) => id === workspace) ?? null;
}

function personOf(email: string): Person {
  return { kind: "person", email, carriedBy: "sign-in link" };
}

async function takenLink({ token }: LinkCall, { control }: ConsoleParts): Promise<SignInLink> {
  return requireLink(await control.sql.begin((tx) => takeSignInLink(token, { sql: tx, clock: control.clock })));
}

function requireLink(link: SignInLink | null): SignInLink {
  if (link !== null) return link;
  throw unusable();
}

function unusable(): DomainError {
  return new DomainError("not_found", "This link was used, or it has expired: ask for another one");
}
