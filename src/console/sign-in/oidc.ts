/** Signing in by the OpenID Connect provider: to it and back. */
import { DomainError, errorStatuses, LimitReachedError } from "../../accounts/errors.ts";
import { oidcSignInMs } from "../../accounts/limits.ts";
import { beginOidcSignIn, finishOidcSignIn } from "../../accounts/oidc/oidc-sign-in.ts";
import { oidcReturnPath, type OidcProvider } from "../../accounts/oidc/oidc-provider.ts";
import { endedHostCookie, hostCookie, hostCookieValue } from "../../accounts/sessions/browser.ts";
import { networkOf } from "../../accounts/sessions/tries.ts";
import { markup, type Html } from "../../http/html.ts";
import type { ConsoleParts } from "../parts.ts";
import { nextPath, seeOther } from "../redirect.ts";
import type { SignInCall } from "./sign-in-call.ts";
import { openSession } from "./open-session.ts";

const cookieName = "weir-oidc";
const beginPath = "/console/sign-in/oidc";

/** A link and no form: the policy of content lets forms lead to this service alone. Null where no provider is configured. */
export function oidcButton(oidc: OidcProvider | null, { next, again }: { next: string; again: boolean }): Html | null {
  if (oidc === null) return null;
  const query = new URLSearchParams({ next, ...(again && { again: "yes" }) });
  return markup`<p><a class="button" href="${beginPath}?${query.toString()}">Sign in with ${oidc.name}</a></p>
    <p>Or with an e-mail address and a password:</p>`;
}

/**
 * @param refuse shows the sign-in page with a message
 * @returns null: the path is another one, or no provider is configured
 */
export async function oidcAnswer(
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
