import type { Database } from "../backing/backing.ts";
import { DomainError } from "../accounts/errors.ts";
import type { Authenticator, Principal } from "../accounts/members/principal.ts";
import { sessionToken, requireSameOrigin } from "../accounts/sessions/browser.ts";
import { findSession } from "../accounts/sessions/session.ts";
import type { Session } from "../accounts/sessions/store.ts";
import type { Clock } from "../kernel/clock.ts";

/** Opens the control API to the Console's pages, by the cookie of a sign-in. A request with an `Authorization` header is no session's. */
export class SessionAuthenticator implements Authenticator {
  readonly #sources: { sql: Database; clock: Clock };

  constructor(sources: { sql: Database; clock: Clock }) {
    this.#sources = sources;
  }

  /** @throws DomainError unauthorized for an ended session; forbidden for a change that another site sends, or one that is no JSON */
  async authenticate(request: Request): Promise<Principal | null> {
    const token = request.headers.has("authorization") ? null : sessionToken(request);
    if (token === null) return null;
    const session = await findSession(token, this.#sources);
    if (session === null) throw new DomainError("unauthorized", "The session has ended: sign in again");
    if (request.method !== "GET" && request.method !== "HEAD") {
      requireSameOrigin(request);
      requireNoForm(request);
    }
    return principalOf(session);
  }
}

/** Whom a session signs in. */
export function principalOf({ email, provedAt, bothFactors }: Session): Principal {
  const proof = { provedAt, bothFactors };
  return email === null ? { kind: "operator", ...proof } : { kind: "person", email, carriedBy: "session", ...proof };
}

/** A form of another site can send these types without asking first: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
function requireNoForm(request: Request): void {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].includes(type)) return;
  throw new DomainError("forbidden", 'Changes with a session need "content-type: application/json"');
}
