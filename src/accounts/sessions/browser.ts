/**
 * What a browser keeps and sends: cookies, and the token of forms.
 *
 * The session's cookie has the prefix `__Host-` and belongs to this host alone; a page of another site cannot read it, and sends it only
 * with links that a person follows. On this machine there is no TLS, so loopback names go without the prefix. Only this service's own pages
 * can make changes. Sec-Fetch-Site (https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site) shows where a request comes from,
 * in older browsers the origin does, and a hidden token is known only to pages of the session. A proxy that puts a loopback name into Host
 * is refused: cookies would go without TLS.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DomainError } from "../errors.ts";
import { knownBrowserMsMax, sessionAgeMsMax } from "../limits.ts";

const sessionName = "weir";
const knownName = "weir-known";

export function sessionCookie(token: string, request: Request): string {
  return hostCookie({ name: sessionName, value: token, ageMsMax: sessionAgeMsMax }, request);
}

export function endedSessionCookie(request: Request): string {
  return endedHostCookie(sessionName, request);
}

/** null: there is none. */
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

/** Whether the browser speaks to this machine by a loopback name, where browsers treat http as secure. */
export function isLoopback(request: Request): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(request.headers.get("host") ?? "");
}

/** Recent browsers say where a request comes from; older ones must send this host as the origin. @throws DomainError forbidden */
export function requireSameOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = URL.parse(request.headers.get("origin") ?? "");
  const isHost = origin !== null && origin.host === request.headers.get("host");
  if (site === "same-origin" && origin !== null && !isHost && isLoopback(request)) throw foreignHost();
  if (site === "same-origin" || site === "none") return;
  if (!(site === null && isHost))
    throw new DomainError("forbidden", "Only the Console's own pages can make changes with a session");
}

/**
 * The hidden field of each form, which only pages of the session know. It is another text each time, a mask and the masked token, since the
 * size of a compressed page would betray a text that stays the same (https://www.breachattack.com).
 */
export function formToken(token: string): string {
  const mask = randomBytes(formTokenBytes);
  return Buffer.concat([mask, masked(formTokenOf(token), mask)]).toString("base64url");
}

/** @throws DomainError forbidden for a form of another session, or without a token */
export function requireFormToken(given: string | null, token: string): void {
  const received = Buffer.from(given ?? "", "base64url");
  const [mask, hidden] = [received.subarray(0, formTokenBytes), received.subarray(formTokenBytes)];
  if (hidden.length === formTokenBytes && timingSafeEqual(masked(hidden, mask), formTokenOf(token))) return;
  throw new DomainError("forbidden", "The form is from another session: go back, load its page again and repeat the change");
}

/** Of a SHA-256. */
const formTokenBytes = 32;

function formTokenOf(token: string): Buffer {
  return createHmac("sha256", token).update("form").digest();
}

function masked(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

/** Browsers accept the prefix only with Secure and for the whole host: https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis */
const securedPrefix = "__Host-";

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

/** A proxy that puts this machine's name into Host makes a browser elsewhere look like one here: its cookies would go without TLS. */
function foreignHost(): DomainError {
  return new DomainError("forbidden", "The proxy in front of this service has to pass on the header Host as the browser sent it");
}
