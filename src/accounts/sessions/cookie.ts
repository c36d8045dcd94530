/** The session's cookie. A page of another site cannot read it, and sends it only with links that a person follows. */
import { knownBrowserMsMax, sessionAgeMsMax } from "../limits.ts";

/** Browsers accept the prefix only with Secure, for the whole host: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis */
const securedPrefix = "__Host-";
const sessionName = "weir";
const knownName = "weir-known";

export function sessionCookie(token: string, request: Request): string {
  return hostCookie({ name: sessionName, value: token, ageMsMax: sessionAgeMsMax }, request);
}

export function endedSessionCookie(request: Request): string {
  return endedHostCookie(sessionName, request);
}

/** The value of the session's cookie; null: there is none. */
export function sessionToken(request: Request): string | null {
  return hostCookieValue(sessionName, request);
}

/** What a browser keeps of a sign-in, as `sealKnownBrowser` gives it. */
export function knownBrowserCookie(note: string, request: Request): string {
  return hostCookie({ name: knownName, value: note, ageMsMax: knownBrowserMsMax }, request);
}

/** null: it kept nothing. */
export function knownBrowserNote(request: Request): string | null {
  return hostCookieValue(knownName, request);
}

/** A cookie that no other host can set, nor a page's script read. */
export function hostCookie(
  { name, value, ageMsMax }: { name: string; value: string; ageMsMax: number },
  request: Request,
): string {
  const isLocal = isLoopback(request);
  const attributes = [
    "HttpOnly",
    "SameSite=Lax",
    "Path=/",
    `Max-Age=${Math.floor(ageMsMax / 1_000)}`,
    ...(isLocal ? [] : ["Secure"]),
  ];
  return [`${hostName(name, request)}=${value}`, ...attributes].join("; ");
}

export function endedHostCookie(name: string, request: Request): string {
  return hostCookie({ name, value: "", ageMsMax: 0 }, request);
}

/** The value of such a cookie; null: there is none. */
export function hostCookieValue(name: string, request: Request): string | null {
  return cookieValue(request, hostName(name, request));
}

/** On this machine there is no TLS, which the prefix demands. */
function hostName(name: string, request: Request): string {
  return isLoopback(request) ? name : securedPrefix + name;
}

function cookieValue(request: Request, name: string): string | null {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value) return value;
  }
  return null;
}

/** Whether the browser speaks to this machine by its loopback names, where browsers treat http as secure. */
export function isLoopback(request: Request): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(request.headers.get("host") ?? "");
}
