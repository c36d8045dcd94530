/**
 * Redirects to another page. After a form the browser loads the page again, so that a reload sends nothing twice. A cookie that no other
 * host can set tells that page what was done. Return paths come from an address, so only those of the Console are accepted.
 */
import { endedHostCookie, hostCookie, hostCookieValue } from "../accounts/sessions/browser.ts";
import type { Notice } from "./look/parts.ts";

const saidName = "weir-said";
const saidMs = 30_000;

/** After a form: the browser loads the page again, so that a reload sends nothing twice. */
export function seeOther(path: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location: path, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Before words that warn. */
const warningMark = "!";

/** The message of what was done, for the next page. Like the session's cookie, no other host can set it and so put words into the page. */
export function saidCookie({ said, warns = false }: { said: string; warns?: boolean }, request: Request): string {
  const value = encodeURIComponent(`${warns ? warningMark : ""}${said}`);
  return hostCookie({ name: saidName, value, ageMsMax: saidMs }, request);
}

export function saidIn(request: Request): Notice | null {
  const value = hostCookieValue(saidName, request);
  try {
    const text = value === null ? "" : decodeURIComponent(value).slice(0, 500);
    if (text === "") return null;
    return text.startsWith(warningMark) ? { tone: "warn", words: text.slice(1) } : { tone: "good", words: text };
  } catch {
    return null;
  }
}

export function saidOnceCookie(request: Request): string {
  return endedHostCookie(saidName, request);
}

/** The path to go to after signing in. Anything outside the Console leads to its start, so that no link leads elsewhere. */
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
