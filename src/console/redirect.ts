/** Answers that lead to another page. */
import { cookieValue, isLoopback } from "../accounts/sessions/cookie.ts";

const saidName = "weir-said";
const saidSeconds = 30;

/** After a form: the browser gets the page anew, so that loading it again sends nothing twice. */
export function seeOther(path: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location: path, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** What was done, for the next page to say. */
export function saidCookie(text: string, request: Request): string {
  return `${saidName}=${encodeURIComponent(text)}; ${attributes(request)}; Max-Age=${saidSeconds}`;
}

export function saidIn(request: Request): string | null {
  const value = cookieValue(request, saidName);
  try {
    return value === null ? null : decodeURIComponent(value).slice(0, 500);
  } catch {
    return null;
  }
}

export function saidOnceCookie(request: Request): string {
  return `${saidName}=; ${attributes(request)}; Max-Age=0`;
}

function attributes(request: Request): string {
  return `HttpOnly; SameSite=Strict; Path=/console${isLoopback(request) ? "" : "; Secure"}`;
}

/** A path of the Console to go to after signing in; anything else leads to its start, so that no link leads elsewhere. */
export function nextPath(text: string | null): string {
  return text !== null &&
    /^\/console(?:\/[\w.~!$&'()*+,;=:@%/-]*)?(?:\?[\w.~!$&'()*+,;=:@%/?-]*)?$/.test(text) &&
    !text.includes("//")
    ? text
    : "/console";
}

/** The first page of a workspace. */
export function workspacePath(name: string): string {
  return `/console/w/${encodeURIComponent(name)}`;
}
