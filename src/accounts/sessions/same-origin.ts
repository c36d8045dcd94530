/** Changes are taken from this service's own pages alone: https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site */
import { createHmac, timingSafeEqual } from "node:crypto";
import { DomainError } from "../errors.ts";
import { isLoopback } from "./cookie.ts";

/** Browsers of the last years tell where a request comes from; for older ones the origin has to be this host. @throws DomainError forbidden */
export function requireSameOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = URL.parse(request.headers.get("origin") ?? "");
  const isHost = origin !== null && origin.host === request.headers.get("host");
  if (origin !== null && !isHost && isLoopback(request)) refuseForeignHost(site);
  if (site === "same-origin" || site === "none") return;
  if (!(site === null && isHost))
    throw new DomainError("forbidden", "Changes with a session are taken from the Console's own pages alone");
}

/**
 * A proxy that puts this machine's name into Host makes a browser elsewhere look like one here: its cookies would go without TLS.
 * @throws DomainError forbidden
 */
function refuseForeignHost(site: string | null): void {
  if (site !== "same-origin") return;
  throw new DomainError("forbidden", "The proxy in front of this service has to pass on the header Host as the browser sent it");
}

/** The hidden field of each form, which only pages of the session know. */
export function formToken(token: string): string {
  return createHmac("sha256", token).update("form").digest("base64url");
}

/** @throws DomainError forbidden for a form of another session, or without a token */
export function requireFormToken(given: string | null, token: string): void {
  const expected = Buffer.from(formToken(token));
  const received = Buffer.from(given ?? "");
  if (received.length === expected.length && timingSafeEqual(received, expected)) return;
  throw new DomainError("forbidden", "The form is from another session: go back, load its page again and repeat the change");
}
