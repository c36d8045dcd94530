/** A link that signs in once. Opening it shows a button: programs that look at links in mails must not use it up. */
import { DomainError } from "../../accounts/errors.ts";
import type { SignInLink } from "../../accounts/sessions/link-store.ts";
import { findSignInLink, takeSignInLink } from "../../accounts/sessions/sign-in-links.ts";
import { markup } from "../../http/html.ts";
import { emptyForm, form } from "../look/forms/form.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import type { SignInCall } from "./sign-in-call.ts";
import { openSession } from "./open-session.ts";
import { afterFirstStep } from "./second-step.ts";

export async function linkPage(token: string, { control }: ConsoleParts): Promise<Response> {
  const { email, purpose } = requireLink(await findSignInLink(token, control));
  const goOn = purpose === "sign in" ? "Sign in" : "Sign in and choose a password";
  const main = markup`<p>This link signs you in as <strong dir="auto">${email}</strong>, once.</p>
    ${form({ id: "link", action: `/console/link/${token}`, fields: [], state: emptyForm, submit: goOn })}`;
  return plainResponse({ title: "Sign in", main });
}

export async function followLink(call: SignInCall & { token: string }, parts: ConsoleParts): Promise<Response> {
  const { control } = parts;
  const taken = await control.sql.begin((tx) => takeSignInLink(call.token, { sql: tx, clock: control.clock }));
  const { email, purpose } = requireLink(taken);
  // The operator made this link on the machine, and hands it to the person: it stands for both factors. A mail stands for one.
  if (purpose === "sign in") return await openSession({ email, way: "link", next: "/console" }, call, parts);
  return await afterFirstStep({ email, way: "link", next: "/console/account?choose=password" }, call, parts);
}

function requireLink(link: SignInLink | null): SignInLink {
  if (link !== null) return link;
  throw new DomainError("not_found", "This link was used, or it has expired: ask for another one");
}
