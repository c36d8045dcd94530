import type { Authenticator, Principal } from "../accounts/members/principal.ts";
import { unauthorized } from "./operator-authenticator.ts";

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
