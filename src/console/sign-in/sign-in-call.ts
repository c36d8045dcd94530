/**
 * What every form of the sign-in shares: how it is received, and how a proved person gets a session. Only the browser's network is known,
 * so a form takes its place in the lane of that network. Forms with the operator's token have a separate lane, so that a flood of passwords
 * does not keep the operator out. A new session ends the browser's previous one.
 */
import type { BodyDoor } from "../../accounts/quotas/body-door.ts";
import { networkLane } from "../../accounts/quotas/lane.ts";
import { knownBrowserCookie, sessionCookie } from "../../accounts/sessions/browser.ts";
import { startSession, networkOf, sealKnownBrowser } from "../../accounts/sessions/sign-in.ts";
import { type SignInWay, deleteSession } from "../../accounts/sessions/store.ts";
import { receiveForm, type ReceivedForm } from "../form.ts";
import { signInFormBytesMax } from "../limits.ts";
import type { ConsoleParts } from "../page.ts";
import { seeOther } from "../redirect.ts";
import type { Viewer } from "../viewer.ts";

export interface SignInCall {
  request: Request;
  /** Below /console. */
  path: string;
  query: URLSearchParams;
  /** The address of the connection's other end; null: unknown. */
  address: string | null;
  viewer: Viewer | null;
  /** Admits the request's form. */
  door: BodyDoor;
}

/** The form for the operator token says so in its address, and is checked for nothing else. */
export const operatorFormPath = "/console/sign-in?as=operator";

export function isForOperator({ query }: Pick<SignInCall, "query">): boolean {
  return query.get("as") === "operator";
}

/**
 * The form of a browser of which only the network is known. Tokens have a separate lane from the passwords of their network, so that a
 * flood of passwords does not keep the operator out. A flood of tokens is over quickly, since they are compared at once.
 * @throws what `receiveForm` throws
 */
export function receiveSignInForm(call: SignInCall): Promise<ReceivedForm> {
  const network = networkOf(call.address);
  const lane = networkLane(isForOperator(call) ? `${network} for the operator` : network);
  return receiveForm(call.request, { door: call.door, lane, bytesMax: signInFormBytesMax });
}

interface Proved {
  /** null: the holder of the operator token. */
  email: string | null;
  way: SignInWay;
  /** As `Session` has it. */
  bothFactors: boolean;
  /** When they proved it, in milliseconds; absent: now. */
  provedAt?: number;
}

/** Starts a session that replaces the browser's current one, and redirects. @param cookies to be set as well */
export async function openSession(
  { next, ...proved }: Proved & { next: string },
  call: SignInCall,
  parts: ConsoleParts,
  cookies: readonly string[] = [],
): Promise<Response> {
  return seeOther(next, [...(await sessionCookies(proved, call, parts)), ...cookies]);
}

/** @returns the session's cookie, and the one by which the browser is recognized */
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
