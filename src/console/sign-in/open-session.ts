import { knownBrowserCookie, sessionCookie } from "../../accounts/sessions/browser.ts";
import { sealKnownBrowser } from "../../accounts/sessions/tries.ts";
import { type SignInWay, deleteSession } from "../../accounts/sessions/store.ts";
import { startSession } from "../../accounts/sessions/sign-in.ts";
import type { ConsoleParts } from "../parts.ts";
import { seeOther } from "../redirect.ts";
import type { SignInCall } from "./sign-in-call.ts";

interface Proved {
  /** null: the holder of the operator token. */
  email: string | null;
  way: SignInWay;
  /** As `Session` has it. */
  bothFactors: boolean;
  /** When they proved it, in milliseconds; absent: now. */
  provedAt?: number;
}

/** Starts a session in place of the browser's present one, and goes on. @param cookies to be set besides */
export async function openSession(
  { next, ...proved }: Proved & { next: string },
  call: SignInCall,
  parts: ConsoleParts,
  cookies: readonly string[] = [],
): Promise<Response> {
  return seeOther(next, [...(await sessionCookies(proved, call, parts)), ...cookies]);
}

/** @returns the session's cookie, and that by which the browser is known */
async function sessionCookies(
  { email, way, bothFactors, provedAt }: Proved,
  { request, viewer }: SignInCall,
  { control }: ConsoleParts,
): Promise<string[]> {
  const agent = request.headers.get("user-agent") ?? "";
  const { token } = await startSession({ email, way, agent, bothFactors, ...(provedAt !== undefined && { provedAt }) }, control);
  if (viewer !== null) await deleteSession({ id: viewer.session.id, email: null }, control.sql);
  const known = email === null ? [] : [knownBrowserCookie(sealKnownBrowser(email, control), request)];
  return [sessionCookie(token, request), ...known];
}
