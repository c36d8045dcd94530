/**
 * Finds the principal of a request: the operator by their token, a member named by it in `X-Act-As`, the owner of a tools key, or a person
 * by a session's cookie.
 *
 * Wrong tokens are counted by address. The right one always opens: a generated one has 256 random bits and a chosen one at least 32
 * characters, so that guessing cannot find it, whereas a bound would let strangers lock the operator out. Wrong tokens beyond the bound
 * must wait. All digests have one length, so comparing them reveals nothing. A session's changes must come from this service's own pages
 * and be JSON, which a form of another site cannot send without a preflight. The answer does not say why a credential is refused.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DomainError } from "../accounts/errors.ts";
import { admitToolsKey, givenToolsKey, type KeyCalls } from "../accounts/keys/find.ts";
import type { Authenticator, Principal } from "../accounts/members/principal.ts";
import { sessionToken, requireSameOrigin } from "../accounts/sessions/browser.ts";
import { findSession } from "../accounts/sessions/session.ts";
import type { Session } from "../accounts/sessions/store.ts";
import type { Database } from "../backing/backing.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Secret } from "../kernel/secret.ts";
import { wrongTokenAddressesMax, wrongTokensMax, wrongTokensPerSecond } from "./limits.ts";

interface Caller {
  request: Request;
  /** null: unknown. */
  address: string | null;
}

/** @throws DomainError unauthorized, rate_limited */
export async function authenticate({ request, address }: Caller, authenticators: readonly Authenticator[]): Promise<Principal> {
  for (const authenticator of authenticators) {
    const principal = await authenticator.authenticate(request, address);
    if (principal !== null) return principal;
  }
  throw unauthorized();
}

/** The header that names the member as whom the operator token acts. */
const actAsHeader = "X-Act-As";

/** How many more wrong tokens are compared for an address, as of a time. */
interface Allowance {
  left: number;
  atMs: number;
}

/** Compares tokens, and counts the wrong ones of each address. A request without a token is not a guess. */
export class OperatorAuthenticator implements Authenticator {
  readonly #digest: Buffer;
  readonly #clock: Clock;
  readonly #allowances = new LRUCache<string, Allowance>({ max: wrongTokenAddressesMax });

  constructor(token: Secret, clock: Clock) {
    this.#digest = hash("sha256", token.reveal(), "buffer");
    this.#clock = clock;
  }

  /** Compares the token of the sign-in form, whose wrong tokens are counted separately. @throws DomainError unauthorized, rate_limited */
  requireToken(token: string, address: string | null): void {
    this.#requireRight(token, `form ${address ?? ""}`);
  }

  /** @returns the operator, or the person in `X-Act-As`; an API key of either kind is a wrong token */
  async authenticate(request: Request, address: string | null): Promise<Principal | null> {
    if (!this.#checkToken(request, address)) return null;
    const email = request.headers.get(actAsHeader);
    if (email === null) return { kind: "operator" };
    return { kind: "person", email, carriedBy: "operator token", namedBy: actAsHeader };
  }

  /** Whether a request has the token, on paths that show less without it. */
  isOperator(request: Request, address: string | null): boolean {
    try {
      return this.#checkToken(request, address);
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  /** @returns false if the request has no token @throws DomainError unauthorized, rate_limited */
  #checkToken(request: Request, address: string | null): boolean {
    const [, given] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given === undefined) return false;
    this.#requireRight(given, address ?? "");
    return true;
  }

  #requireRight(given: string, guesser: string): void {
    // All digests have one length, so comparing them reveals nothing about the token's.
    if (timingSafeEqual(hash("sha256", given, "buffer"), this.#digest)) return;
    const allowance = this.#allowance(guesser);
    if (allowance.left < 1) throw tooMany();
    this.#allowances.set(guesser, { ...allowance, left: allowance.left - 1 });
    throw unauthorized();
  }

  #allowance(address: string): Allowance {
    const nowMs = this.#clock.now();
    const { left, atMs } = this.#allowances.get(address) ?? { left: wrongTokensMax, atMs: nowMs };
    const regained = (Math.max(0, nowMs - atMs) / 1_000) * wrongTokensPerSecond;
    return { left: Math.min(wrongTokensMax, left + regained), atMs: nowMs };
  }
}

/**
 * Opens a part of the control API to builds, by a tools key: its owner, in the key's workspace, with their role there. Calls count against
 * the key's limit as those of the tools API do.
 */
export class ToolsKeyAuthenticator implements Authenticator {
  readonly #parts: { sql: Database; clock: Clock; slug: string; calls: KeyCalls };

  constructor(parts: { sql: Database; clock: Clock; slug: string; calls: KeyCalls }) {
    this.#parts = parts;
  }

  /** @throws DomainError unauthorized for an unusable key; forbidden for `X-Act-As`; LimitReachedError */
  async authenticate({ headers }: Request): Promise<Principal | null> {
    const { slug, calls } = this.#parts;
    const key = givenToolsKey(headers.get("authorization"), slug);
    if (key === null) return null;
    const admitted = await admitToolsKey(key, calls, this.#parts);
    if (admitted === null)
      throw new DomainError("unauthorized", "The tools key is unknown or revoked, or its owner is no active member");
    if (headers.has(actAsHeader)) {
      const message = `Cannot act as another person with a tools key: ${actAsHeader} needs the operator token`;
      throw new DomainError("forbidden", message, { field: actAsHeader });
    }
    const { id, workspace, owner } = admitted.row;
    return { kind: "person", email: owner, carriedBy: "tools key", toolsKey: { id, workspace } };
  }
}

/**
 * Opens the control API to the Console's pages, by the cookie of a sign-in. A request with an `Authorization` header does not belong to a
 * session.
 */
export class SessionAuthenticator implements Authenticator {
  readonly #sources: { sql: Database; clock: Clock };

  constructor(sources: { sql: Database; clock: Clock }) {
    this.#sources = sources;
  }

  /** @throws DomainError unauthorized for an ended session; forbidden for a change that another site sends, or one that is not JSON */
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

/** The principal of a session. Whoever got the link of a start holds the machine, and with it the operator token. */
export function principalOf({ email, way, provedAt, bothFactors }: Session): Principal {
  const proof = { provedAt, bothFactors };
  if (email === null) return { kind: "operator", ...proof };
  return { kind: "person", email, carriedBy: "session", operates: way === "start", ...proof };
}

/** One message for every cause. */
function unauthorized(): DomainError {
  return new DomainError("unauthorized", "Send the operator token as a Bearer token");
}

function tooMany(): DomainError {
  return new DomainError("rate_limited", "Too many wrong tokens came from this address: try again after a second");
}

/** A form of another site can send these types without a preflight: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
function requireNoForm(request: Request): void {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].includes(type)) return;
  throw new DomainError("forbidden", 'Changes with a session need "content-type: application/json"');
}
