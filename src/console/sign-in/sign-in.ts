/**
 * The paths that need no session: signing in with a password, the operator's token or OpenID Connect, signing out, and the way to links and
 * codes. A refusal does not reveal which part was wrong, and return paths stay within the Console. accounts/sessions counts the tries.
 */
import { DomainError, errorStatuses, LimitReachedError } from "../../accounts/errors.ts";
import { oidcSignInMs } from "../../accounts/limits.ts";
import { oidcReturnPath, type OidcProvider } from "../../accounts/oidc/oidc-provider.ts";
import { beginOidcSignIn, finishOidcSignIn } from "../../accounts/oidc/oidc-sign-in.ts";
import {
  endedSessionCookie,
  isLoopback,
  knownBrowserNote,
  endedHostCookie,
  hostCookie,
  hostCookieValue,
} from "../../accounts/sessions/browser.ts";
import { checkPassword, networkOf } from "../../accounts/sessions/sign-in.ts";
import { deleteSession } from "../../accounts/sessions/store.ts";
import { markup, type Html } from "../../http/html.ts";
import { sentence } from "../page-forms.ts";
import type { FormFields, ConsoleParts } from "../page.ts";
import { form } from "../look/forms.ts";
import { saidCookie, seeOther, nextPath, saidIn, saidOnceCookie } from "../redirect.ts";
import { plainResponse } from "../shell.ts";
import { linkAnswer, requestReset, resetPage } from "./link.ts";
import { secondStepAnswer, afterFirstStep } from "./second-step.ts";
import { type SignInCall, openSession, isForOperator, operatorFormPath, receiveSignInForm } from "./sign-in-call.ts";

/** null: the path is a page for people who are signed in. */
export async function signInAnswer(call: SignInCall, parts: ConsoleParts): Promise<Response | null> {
  const { request, path } = call;
  const isForm = request.method === "POST";
  if (path === "/sign-in") return isForm ? signIn(call, parts) : signInPage(call, parts);
  if (path === "/reset") return isForm ? requestReset(call, parts) : resetPage(null, parts.control);
  if (path === "/sign-out") return signOut(call, parts);
  const other =
    (await secondStepAnswer(call, parts)) ??
    (await oidcAnswer(call, parts, (text, answer) => signInRefusal(text, answer, call, parts)));
  if (other !== null) return other;
  return linkAnswer(call, parts);
}

async function signOut({ request, viewer }: SignInCall, { control }: ConsoleParts): Promise<Response> {
  if (request.method !== "POST") throw new DomainError("not_found", "There is no such page in the Console");
  if (viewer !== null) await deleteSession({ id: viewer.session.id, email: null }, control.sql);
  return seeOther("/console/sign-in", [endedSessionCookie(request), saidCookie({ said: "You are signed out." }, request)]);
}

interface Shown {
  /** What was typed, or whose session is to be renewed. */
  email: string;
  next: string;
  /** Why the last form was refused, and which one. */
  refused: { form: "password" | "token"; message: string } | null;
}

/** A person who is signed in continues, unless an action requires a new sign-in. */
async function signInPage(call: SignInCall, { control }: ConsoleParts): Promise<Response> {
  const { request, query, viewer } = call;
  const next = nextPath(query.get("next"));
  if (viewer !== null && query.get("again") === null) return seeOther(next);
  const notice = saidIn(request);
  const shown = forms({ email: viewer?.email ?? "", next, refused: null }, request);
  const main = markup`${oidcButton(control.oidc, buttonOf(call, next))}${shown}`;
  return plainResponse({ title: "Sign in", lead, notice, main }, { cookies: notice === null ? [] : [saidOnceCookie(request)] });
}

/** What the service is, for a person whom only a link brought here. */
const lead = "An inference gateway with exact metering, a security platform and a catalog of connectors, in one service.";

/** One message for every wrong sign-in. */
async function signIn(call: SignInCall, parts: ConsoleParts): Promise<Response> {
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
    const main = markup`${button}${forms({ email: typed.text("email"), next, refused }, call.request)}`;
    return plainResponse({ title: "Sign in", lead, main }, { status });
  }
}

/** The sign-in page after a refusal that belongs to none of its forms. */
function signInRefusal(
  message: string,
  answer: { status: number; cookies: string[] },
  call: SignInCall,
  parts: ConsoleParts,
): Response {
  const shown = forms({ email: "", next: "/console", refused: null }, call.request);
  const main = markup`${oidcButton(parts.control.oidc, buttonOf(call, "/console"))}${shown}`;
  return plainResponse({ title: "Sign in", lead, notice: { tone: "bad", words: sentence(message) }, main }, answer);
}

/** A person who is signed in is here because an action requires a recent sign-in. */
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

/** On its own machine the service says where the operator finds the token; elsewhere a stranger reads this page, too. */
function forms({ email, next, refused }: Shown, request: Request): Html {
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
    fields: [
      {
        kind: "password",
        name: "operator_token",
        label: "Operator token",
        required: true,
        ...(isLoopback(request) && {
          hint: "The file operator-token in the service's DATA_DIR, or the variable OPERATOR_TOKEN.",
        }),
      },
    ],
    state: { values: {}, problem: problemOf("token") },
    submit: "Sign in as the operator",
  });
  return markup`${byPassword}
    <p><a href="/console/reset">Forgot the password, or none yet?</a></p>
    <details${refused?.form === "token" ? markup` open` : null}><summary>Sign in as the operator</summary>${byToken}</details>`;
}

// Signing in with the OpenID Connect provider: to it and back.

const cookieName = "weir-oidc";
const beginPath = "/console/sign-in/oidc";

/** A link, not a form: the content security policy lets forms lead only to this service. Null if no provider is configured. */
function oidcButton(oidc: OidcProvider | null, { next, again }: { next: string; again: boolean }): Html | null {
  if (oidc === null) return null;
  const query = new URLSearchParams({ next, ...(again && { again: "yes" }) });
  return markup`<p><a class="button" href="${beginPath}?${query.toString()}">Sign in with ${oidc.name}</a></p>
    <p>Or with an e-mail address and a password:</p>`;
}

/**
 * @param refuse shows the sign-in page with a message
 * @returns null: the path is another one, or no provider is configured
 */
async function oidcAnswer(
  call: SignInCall,
  parts: ConsoleParts,
  refuse: (message: string, answer: { status: number; cookies: string[] }) => Response,
): Promise<Response | null> {
  const { oidc } = parts.control;
  const path = `/console${call.path}`;
  if (oidc === null || (path !== beginPath && path !== oidcReturnPath)) return null;
  try {
    return await (path === beginPath ? begin(oidc, call, parts) : finish(oidc, call, parts));
  } catch (error) {
    if (!(error instanceof DomainError || error instanceof LimitReachedError)) throw error;
    const status = error instanceof DomainError ? errorStatuses[error.code] : error.status;
    return refuse(error.message, { status, cookies: [endedHostCookie(cookieName, call.request)] });
  }
}

async function begin(oidc: OidcProvider, { request, query }: SignInCall, { control }: ConsoleParts): Promise<Response> {
  const next = nextPath(query.get("next"));
  const { url, note } = await beginOidcSignIn({ next, again: query.get("again") !== null }, { ...control, oidc });
  return seeOther(url, [hostCookie({ name: cookieName, value: note, ageMsMax: oidcSignInMs }, request)]);
}

async function finish(oidc: OidcProvider, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  const { request, query, address } = call;
  const returned = { query, note: hostCookieValue(cookieName, request), network: networkOf(address) };
  const { email, next, signedInAt } = await finishOidcSignIn(returned, { ...parts.control, oidc });
  const proved = { email, way: "oidc", bothFactors: true, next, provedAt: signedInAt } as const;
  return openSession(proved, call, parts, [endedHostCookie(cookieName, request)]);
}
