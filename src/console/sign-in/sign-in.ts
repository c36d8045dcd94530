import { DomainError, errorStatuses } from "../../accounts/errors.ts";
import { LimitReachedError } from "../../accounts/quotas/limit-reached.ts";
import { sessionCookie } from "../../accounts/sessions/cookie.ts";
import { checkPassword } from "../../accounts/sessions/sign-in.ts";
import { networkOf } from "../../accounts/sessions/sign-in-tries.ts";
import { startSession } from "../../accounts/sessions/start-session.ts";
import type { SignInWay } from "../../accounts/sessions/session.ts";
import { deleteSession } from "../../accounts/sessions/session-store.ts";
import { markup, type Html } from "../../http/html.ts";
import { readForm, type FormFields } from "../form.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import { nextPath, saidIn, saidOnceCookie, seeOther } from "../redirect.ts";
import type { SignInCall } from "./answer.ts";

interface Shown {
  email: string;
  next: string;
  /** What the last form did, or why it was refused; null: nothing yet. */
  message: Html | null;
  /** The form that was refused. */
  refused: "password" | "token" | null;
}

/** Somebody who is signed in goes on, unless an action wants a new sign-in. */
export async function signInPage({ request, query, viewer }: SignInCall, _parts: ConsoleParts): Promise<Response> {
  const next = nextPath(query.get("next"));
  if (viewer !== null && query.get("again") === null) return seeOther(next);
  const said = saidIn(request);
  const message = said === null ? null : markup`<p role="status" class="said">${said}</p>`;
  const main = forms({ email: viewer?.email ?? "", next, message, refused: null });
  return plainResponse({ title: "Sign in", main }, { cookies: said === null ? [] : [saidOnceCookie(request)] });
}

/** One message for every wrong sign-in. */
export async function signIn(call: SignInCall, parts: ConsoleParts): Promise<Response> {
  const form = await readForm(call.request, parts.control.clock);
  const byToken = form.has("operator_token");
  const next = nextPath(form.text("next"));
  try {
    const email = byToken ? await checkToken(form, call, parts) : await checkAddress(form, call, parts);
    return await openSession({ email, way: byToken ? "operator token" : "password", next }, call, parts);
  } catch (error) {
    if (!(error instanceof DomainError || error instanceof LimitReachedError)) throw error;
    const status = error instanceof DomainError ? errorStatuses[error.code] : error.status;
    const words = byToken && status === 401 ? "The token is wrong" : error.message;
    const message = markup`<p class="problem" role="alert" id="refusal">${words}.</p>`;
    const main = forms({ email: form.text("email"), next, message, refused: byToken ? "token" : "password" });
    return plainResponse({ title: "Sign in", main }, { status });
  }
}

/** Starts a session in place of the browser's present one. */
export async function openSession(
  { email, way, next }: { email: string | null; way: SignInWay; next: string },
  { request, viewer }: SignInCall,
  { control }: ConsoleParts,
): Promise<Response> {
  const { token } = await startSession({ email, way, agent: request.headers.get("user-agent") ?? "" }, control);
  if (viewer !== null) await deleteSession({ id: viewer.session.id, email: null }, control.sql);
  return seeOther(next, [sessionCookie(token, request)]);
}

function checkAddress(form: FormFields, { address }: SignInCall, { control, passwords }: ConsoleParts): Promise<string> {
  const credentials = { email: form.text("email"), password: form.raw("password"), network: networkOf(address) };
  return checkPassword(credentials, { ...control, passwords });
}

async function checkToken(form: FormFields, { address }: SignInCall, { operator }: ConsoleParts): Promise<null> {
  const headers = { authorization: `Bearer ${form.text("operator_token") || "none"}` };
  await operator.authenticate(new Request("http://weir.invalid/", { headers }), address);
  return null;
}

function forms({ email, next, message, refused }: Shown): Html {
  const wrong = refused === "password" ? markup` aria-invalid="true" aria-describedby="refusal"` : null;
  return markup`${refused === "token" ? null : message}
    <form method="post" action="/console/sign-in" class="card">
      <input type="hidden" name="next" value="${next}" />
      <p><label for="email">E-mail address</label>
        <input id="email" name="email" type="email" autocomplete="username" required value="${email}"${wrong} /></p>
      <p><label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required${wrong} /></p>
      <p><button>Sign in</button></p>
      <p><a href="/console/reset">Forgot the password, or none yet?</a></p>
    </form>
    <details${refused === "token" ? markup` open` : null}>
      <summary>Sign in as the operator</summary>
      <form method="post" action="/console/sign-in" class="card">
        ${refused === "token" ? message : null}
        <input type="hidden" name="next" value="${next}" />
        <p><label for="operator_token">Operator token</label>
          <input id="operator_token" name="operator_token" type="password" autocomplete="off" required /></p>
        <p><button class="quiet">Sign in as the operator</button></p>
      </form>
    </details>`;
}
