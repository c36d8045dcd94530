/** The session's cookie. A page of another site cannot read it, and sends it only with links that a person follows. */
import { sessionAgeMsMax } from "../limits.ts";

/** Browsers accept the prefix only with Secure, for the whole host: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis */
const securedName = "__Host-weir";
/** On this machine there is no TLS, which the prefix demands. */
const localName = "weir";

export function sessionCookie(token: string, request: Request): string {
  return cookie(request, token, Math.floor(sessionAgeMsMax / 1_000));
}

export function endedSessionCookie(request: Request): string {
  return cookie(request, "", 0);
}

function cookie(request: Request, value: string, seconds: number): string {
  const isLocal = isLoopback(request);
  const attributes = ["HttpOnly", "SameSite=Lax", "Path=/", `Max-Age=${seconds}`, ...(isLocal ? [] : ["Secure"])];
  return [`${isLocal ? localName : securedName}=${value}`, ...attributes].join("; ");
}

/** The value of the session's cookie; null: there is none. */
export function sessionToken(request: Request): string | null {
  return cookieValue(request, isLoopback(request) ? localName : securedName);
}

/** The value of a cookie; null: there is none. */
export function cookieValue(request: Request, name: string): string | null {
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
