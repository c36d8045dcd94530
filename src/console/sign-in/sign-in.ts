import { DomainError, errorStatuses, LimitReachedError } from "../../accounts/errors.ts";
import { knownBrowserNote } from "../../accounts/sessions/browser.ts";
import { checkPassword } from "../../accounts/sessions/sign-in.ts";
import { networkOf } from "../../accounts/sessions/tries.ts";
import { markup, type Html } from "../../http/html.ts";
import type { FormFields } from "../form.ts";
import { form } from "../look/forms/form.ts";
import { sentence } from "../page-forms.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import { nextPath, saidIn, saidOnceCookie, seeOther } from "../redirect.ts";
import { oidcButton } from "./oidc.ts";
import { openSession } from "./open-session.ts";
import { afterFirstStep } from "./second-step.ts";
import { isForOperator, operatorFormPath, receiveSignInForm, type SignInCall } from "./sign-in-call.ts";

interface Shown {
  /** What was typed, or whose session is to be renewed. */
  email: string;
  next: string;
  /** Why the last form was refused, and which one. */
  refused: { form: "password" | "token"; message: string } | null;
}

/** Somebody who is signed in goes on, unless an action wants a new sign-in. */
export async function signInPage(call: SignInCall, { control }: ConsoleParts): Promise<Response> {
  const { request, query, viewer } = call;
  const next = nextPath(query.get("next"));
  if (viewer !== null && query.get("again") === null) return seeOther(next);
  const notice = saidIn(request);
  const main = markup`${oidcButton(control.oidc, buttonOf(call, next))}${forms({ email: viewer?.email ?? "", next, refused: null })}`;
  return plainResponse({ title: "Sign in", notice, main }, { cookies: notice === null ? [] : [saidOnceCookie(request)] });
}

/** One message for every wrong sign-in. */
export async function signIn(call: SignInCall, parts: ConsoleParts): Promise<Response> {
  using received = await receiveSignInForm(call);
  const typed = await received.read();
  const byToken = isForOperator(call) || typed.has("operator_token");
  const next = nextPath(typed.text("next"));
  try {
    if (!byToken)
      return await afterFirstStep({ email: await checkAddress(typed, call, parts), way: "password", next }, call, parts);
    parts.operator.requireToken(typed.text("operator_token"), call.address);
    return await openSession({ email: null, way: "operator token", bothFactors: true, next }, call, parts);
  } catch (error) {
    if (!(error instanceof DomainError || error instanceof LimitReachedError)) throw error;
    const status = error instanceof DomainError ? errorStatuses[error.code] : error.status;
    const words = byToken && status === 401 ? "The token is wrong" : error.message;
    const refused = { form: byToken ? "token" : "password", message: sentence(words) } as const;
    const button = oidcButton(parts.control.oidc, buttonOf(call, next));
    const main = markup`${button}${forms({ email: typed.text("email"), next, refused })}`;
    return plainResponse({ title: "Sign in", main }, { status });
  }
}

/** The sign-in page after a refusal that none of its forms met. */
export function signInRefusal(
  message: string,
  answer: { status: number; cookies: string[] },
  call: SignInCall,
  parts: ConsoleParts,
): Response {
  const main = markup`${oidcButton(parts.control.oidc, buttonOf(call, "/console"))}${forms({ email: "", next: "/console", refused: null })}`;
  return plainResponse({ title: "Sign in", notice: { tone: "bad", words: sentence(message) }, main }, answer);
}

/** Somebody who is signed in is here because an action wants a recent sign-in. */
function buttonOf({ viewer }: SignInCall, next: string): { next: string; again: boolean } {
  return { next, again: viewer !== null };
}

function checkAddress(
  typed: FormFields,
  { request, address }: SignInCall,
  { control, passwords }: ConsoleParts,
): Promise<string> {
  const browser = { network: networkOf(address), note: knownBrowserNote(request) };
  const credentials = { email: typed.text("email"), password: typed.raw("password"), ...browser };
  return checkPassword(credentials, { ...control, passwords });
}

function forms({ email, next, refused }: Shown): Html {
  const problemOf = (name: "password" | "token") => (refused?.form === name ? { field: null, message: refused.message } : null);
  const byPassword = form({
    id: "sign-in",
    action: "/console/sign-in",
    hidden: { next },
    fields: [
      { kind: "email", name: "email", label: "E-mail address", required: true, autocomplete: "username" },
      { kind: "password", name: "password", label: "Password", required: true, autocomplete: "current-password" },
    ],
    state: { values: { email }, problem: problemOf("password") },
    submit: "Sign in",
  });
  const byToken = form({
    id: "operator",
    action: operatorFormPath,
    hidden: { next },
    fields: [{ kind: "password", name: "operator_token", label: "Operator token", required: true }],
    state: { values: {}, problem: problemOf("token") },
    submit: "Sign in as the operator",
  });
  return markup`${byPassword}
    <p><a href="/console/reset">Forgot the password, or none yet?</a></p>
    <details${refused?.form === "token" ? markup` open` : null}><summary>Sign in as the operator</summary>${byToken}</details>`;
}
