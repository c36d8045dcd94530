/** The paths that need no session: signing in and out, links, and new passwords. */
import { DomainError } from "../../accounts/errors.ts";
import { deleteSession } from "../../accounts/sessions/store.ts";
import { endedSessionCookie } from "../../accounts/sessions/browser.ts";
import type { ConsoleParts } from "../parts.ts";
import { saidCookie, seeOther } from "../redirect.ts";
import { linkAnswer } from "./link.ts";
import { requestReset, resetPage } from "./reset.ts";
import { oidcAnswer } from "./oidc.ts";
import { secondStepAnswer } from "./second-step.ts";
import type { SignInCall } from "./sign-in-call.ts";
import { signIn, signInPage, signInRefusal } from "./sign-in.ts";

/** null: the path is a page for people who are signed in. */
export async function signInAnswer(call: SignInCall, parts: ConsoleParts): Promise<Response | null> {
  const { request, path } = call;
  const isForm = request.method === "POST";
  if (path === "/sign-in") return isForm ? signIn(call, parts) : signInPage(call, parts);
  if (path === "/reset") return isForm ? requestReset(call, parts) : resetPage(null, parts);
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
