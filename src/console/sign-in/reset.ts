/** A mail with a link to choose a password. The answer is the same for every address, so that it does not tell who is known. */
import { knownBrowserNote } from "../../accounts/sessions/browser.ts";
import { openKnownBrowser, countTry, networkOf } from "../../accounts/sessions/tries.ts";
import { createSignInLink } from "../../accounts/sessions/links.ts";
import { lockAccount } from "../../accounts/members/store.ts";
import { canonicalEmail } from "../../accounts/workspaces/fields.ts";
import { countLinks } from "../../accounts/sessions/store.ts";
import { emailCharactersMax, passwordLinksMax } from "../../accounts/limits.ts";
import { unexpectedError } from "../../accounts/errors.ts";
import type { ControlParts } from "../../control-api/parts.ts";
import { markup } from "../../http/html.ts";
import { insertMail } from "../../accounts/mails/store.ts";
import { emptyForm, form } from "../look/forms/form.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import { receiveSignInForm, type SignInCall } from "./sign-in-call.ts";

/** @param sentTo the address that a mail was asked for; null: none yet */
export function resetPage(sentTo: string | null, { sendsMail }: Pick<ConsoleParts, "sendsMail">): Response {
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

/** What helps somebody who would wait for a mail in vain. */
const withoutMail = markup`No mail server is set up here, so mails wait. Meanwhile the operator can create a link that signs you in once:
  <code>npm run -s weir -- session link --email ADDRESS</code>. <code>npm start</code> prints one too.`;

/** @throws LimitReachedError after too many */
export async function requestReset(call: SignInCall, { control, sendsMail }: ConsoleParts): Promise<Response> {
  const { request, address } = call;
  using received = await receiveSignInForm(call);
  const typed = await received.read();
  const email = canonicalEmail(typed.text("email")).slice(0, emailCharactersMax).replaceAll("\u0000", "");
  const known = openKnownBrowser({ note: knownBrowserNote(request), email }, control);
  await countTry({ kind: "reset", email, network: networkOf(address), known }, control);
  // Whether and when the mail is written shows neither in the answer nor in its time.
  sendLink(email, control).catch((error: unknown) => unexpectedError(error, { log: control.log, event: "console.failed" }));
  return resetPage(email, { sendsMail });
}

/** Sends nothing to strangers, nor to a person who has several such links already: nobody is to fill their mailbox. */
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
