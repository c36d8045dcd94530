/**
 * Links that sign in once: following one from a mail or the operator, answering its invitation, and requesting one after a forgotten
 * password. Opening a link shows a button, because programs that scan links in mails must not use it up. The answer to a request for a mail
 * is the same for every address, so that it does not reveal who is known.
 */
import { DomainError, unexpectedError } from "../../accounts/errors.ts";
import { emailCharactersMax, passwordLinksMax } from "../../accounts/limits.ts";
import { insertMail } from "../../accounts/mails/store.ts";
import { answerInvitation } from "../../accounts/members/members.ts";
import type { Person } from "../../accounts/members/principal.ts";
import { lockAccount } from "../../accounts/members/store.ts";
import { knownBrowserNote } from "../../accounts/sessions/browser.ts";
import { findSignInLink, takeSignInLink, createSignInLink } from "../../accounts/sessions/links.ts";
import { identityOf } from "../../accounts/sessions/session.ts";
import { type SignInLink, selectPasswordHash, countLinks } from "../../accounts/sessions/store.ts";
import { openKnownBrowser, countTry, networkOf } from "../../accounts/sessions/sign-in.ts";
import { canonicalEmail } from "../../accounts/workspaces/fields.ts";
import type { ControlParts } from "../../control-api/parts.ts";
import { markup, type Html } from "../../http/html.ts";
import { actionButton, emptyForm, form } from "../look/forms.ts";
import type { ConsoleParts } from "../page.ts";
import { saidCookie, seeOther, workspacePath } from "../redirect.ts";
import { plainResponse } from "../shell.ts";
import { invitationWords, type Invitation } from "../viewer.ts";
import { afterFirstStep } from "./second-step.ts";
import { type SignInCall, openSession, receiveSignInForm } from "./sign-in-call.ts";

type LinkCall = SignInCall & { token: string };

/** null: the path belongs to no link. */
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
  const isHandedOver = link.purpose === "start" || link.purpose === "sign in";
  const goOn = isHandedOver ? "Sign in" : "Sign in and choose a password";
  const operates = link.purpose === "start" ? ", and as the operator of this service" : "";
  const main = markup`<p>This link signs you in as <strong dir="auto">${link.email}</strong>${operates}, once.</p>
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
  // The operator made this link on the machine, and hands it to the person: it counts as both factors. A mail counts as one.
  if (purpose === "start") return await openSession({ email, way: "start", bothFactors: true, next: "/console" }, call, parts);
  if (purpose === "sign in") return await openSession({ email, way: "link", bothFactors: true, next: "/console" }, call, parts);
  return await afterFirstStep({ email, way: "link", next: "/console/account?choose=password" }, call, parts);
}

/** The mail came to the person, so their click is their consent; a session also requires the second factor, if there is one. */
async function accept(
  { email, invitation }: { email: string; invitation: Invitation },
  call: LinkCall,
  parts: ConsoleParts,
): Promise<Response> {
  const { control } = parts;
  await answerInvitation({ person: personOf(email), workspace: invitation.id, accepts: true }, control);
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

/** null: the link belongs to no invitation, or the person is a member by now. */
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

// A mail with a link to choose a password

/** @param sentTo the address for which a mail was requested; null: none yet */
export function resetPage(sentTo: string | null, { sendsMail }: Pick<ControlParts, "sendsMail">): Response {
  const mail = sendsMail ? "a mail with a link is on its way" : "a mail with a link waits until a mail server is set up";
  const words = `If "${sentTo}" has an account here, ${mail}.`;
  const request = form({
    id: "reset",
    action: "/console/reset",
    fields: [{ kind: "email", name: "email", label: "E-mail address", required: true, autocomplete: "username" }],
    state: emptyForm,
    submit: "Send the mail",
  });
  return plainResponse({
    title: "A new password",
    lead: sendsMail ? "You get a mail with a link that signs you in once, to choose a password." : withoutMail,
    notice: sentTo === null ? null : { tone: "neutral", words },
    main: markup`${request}<p><a href="/console/sign-in">Back to the sign-in</a></p>`,
  });
}

/** What to do if no mail will arrive. */
const withoutMail = markup`No mail server is set up here, so mails wait. Meanwhile the operator can create a link that signs you in once:
  <code>npm run -s weir -- session link --email ADDRESS</code>. <code>npm start</code> prints one too.`;

/** @throws LimitReachedError after too many */
export async function requestReset(call: SignInCall, { control }: ConsoleParts): Promise<Response> {
  const { request, address } = call;
  using received = await receiveSignInForm(call);
  const typed = await received.read();
  const email = canonicalEmail(typed.text("email")).slice(0, emailCharactersMax).replaceAll("\u0000", "");
  const known = openKnownBrowser({ note: knownBrowserNote(request), email }, control);
  await countTry({ kind: "reset", email, network: networkOf(address), known }, control);
  // Neither the answer nor its time reveals whether a mail is written.
  sendLink(email, control).catch((error: unknown) => unexpectedError(error, { log: control.log, event: "console.failed" }));
  return resetPage(email, control);
}

/** Sends nothing to strangers, nor to a person who has several such links already, so that no one can fill their mailbox. */
async function sendLink(email: string, { sql, clock, publicUrl }: ControlParts): Promise<void> {
  await sql.begin(async (tx) => {
    const now = new Date(clock.now());
    if ((await lockAccount(email, tx)) !== "active") return;
    if ((await countLinks({ email, purpose: "password", now }, tx)) >= passwordLinksMax) return;
    const { path, expiresAt } = await createSignInLink({ email, purpose: "password" }, { sql: tx, clock });
    const body = `Sign in and choose a password, once and before ${expiresAt}:

  ${publicUrl}${path}

If you did not ask for this, ignore it: your password stays.
`;
    await insertMail({ ticket: null, recipient: email, subject: "Choose a new password", body, at: now }, tx);
  });
}
