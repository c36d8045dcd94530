/** A mail with a link to choose a password. The answer is the same for every address, so that it does not tell who is known. */
import { countTry, networkOf } from "../../accounts/sessions/sign-in-tries.ts";
import { createSignInLink } from "../../accounts/sessions/sign-in-links.ts";
import { lockAccount } from "../../accounts/members/member-store.ts";
import { canonicalEmail } from "../../accounts/workspaces/fields.ts";
import { emailCharactersMax } from "../../accounts/limits.ts";
import { markup } from "../../http/html.ts";
import { insertMail } from "../../security/mails/store.ts";
import { readForm } from "../form.ts";
import { emptyForm, form } from "../look/forms/form.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import type { SignInCall } from "./sign-in-call.ts";

export function resetPage(sentTo: string | null): Response {
  const words = `If "${sentTo}" has an account here, a mail with a link is on its way.`;
  const request = form({
    id: "reset",
    action: "/console/reset",
    fields: [{ kind: "email", name: "email", label: "E-mail address", required: true, autocomplete: "username" }],
    state: emptyForm,
    submit: "Send the mail",
  });
  return plainResponse({
    title: "A new password",
    lead: "You get a mail with a link that signs you in once, to choose a password.",
    notice: sentTo === null ? null : { tone: "neutral", words },
    main: markup`${request}<p><a href="/console/sign-in">Back to the sign-in</a></p>`,
  });
}

/** @throws LimitReachedError after too many */
export async function requestReset({ request, address }: SignInCall, { control }: ConsoleParts): Promise<Response> {
  const { sql, clock, publicUrl } = control;
  const typed = await readForm(request, clock);
  const email = canonicalEmail(typed.text("email")).slice(0, emailCharactersMax).replaceAll("\u0000", "");
  await countTry({ email: `password ${email}`, network: networkOf(address) }, control);
  await sql.begin(async (tx) => {
    if ((await lockAccount(email, tx)) !== "active") return;
    const { path, expiresAt } = await createSignInLink({ email, purpose: "password" }, { sql: tx, clock });
    const body = `Sign in and choose a password, once and before ${expiresAt}:

  ${publicUrl}${path}

If you did not ask for this, ignore it: your password stays.
`;
    await insertMail({ ticket: null, recipient: email, subject: "Choose a new password", body, at: new Date(clock.now()) }, tx);
  });
  return resetPage(email);
}
