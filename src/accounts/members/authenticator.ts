import type { Principal } from "./principal.ts";

/** Finds the principal of a request by one kind of credential. An API has a list of them, and takes the first result. */
export interface Authenticator {
  /**
   * @param address of the connection's other end; null: unknown
   * @returns null if the request has no credential of this kind
   * @throws DomainError unauthorized, rate_limited for a wrong credential
   */
  authenticate(request: Request, address: string | null): Promise<Principal | null>;
}
