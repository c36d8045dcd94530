/** Finds the caller by the tools key in the `Authorization` header, bare or after `Bearer` or `ApiKey`. */
import { DomainError } from "../../accounts/errors.ts";
import { hashKey, keyPrefix } from "../../kernel/ids.ts";
import { findToolsKey } from "../../accounts/keys/find-tools-key.ts";
import type { ToolsKeyRow } from "../../accounts/keys/store.ts";
import type { Caller, Scope } from "./operations/caller.ts";
import type { AuthenticatedCall } from "./calls/authenticated-call.ts";
import type { ToolsParts } from "./calls/parts.ts";

/**
 * Counts the call against its key. A key that has called too often is refused before any query.
 * @throws DomainError unauthorized for a key that is missing, malformed, of another kind, unknown or revoked, without the reason
 * @throws LimitReachedError
 */
export async function authenticate(request: Request, parts: ToolsParts): Promise<AuthenticatedCall> {
  const key = givenKey(request.headers.get("authorization"), keyPrefix(parts.slug, "tools"));
  if (key === null) throw unauthorized();
  const hash = hashKey(key);
  const { rates, loopThrottle } = parts.limits;
  rates.require(hash);
  if (rates.knows(hash)) await loopThrottle.admit(hash);
  const row = await findToolsKey(hash, parts);
  if (row === null) throw unauthorized();
  rates.count(hash, row.requestsPerMinute);
  return { request, caller: callerOf(row), charge: (calls) => rates.charge(hash, calls) };
}

function unauthorized(): DomainError {
  return new DomainError("unauthorized", "Unauthorized");
}

/** null if the header has no key of the service's format: then nothing is hashed or queried. Anything beside a key makes it invalid. */
function givenKey(header: string | null, prefix: string): string | null {
  const [, key] = /^(?:(?:bearer|apikey) +)?(\S+)$/i.exec(header ?? "") ?? [];
  if (!key?.startsWith(prefix)) return null;
  return /^[0-9a-f]{64}$/.test(key.slice(prefix.length)) ? key : null;
}

function callerOf({ id, workspace, owner, role, scopeKind, scopeId }: ToolsKeyRow): Caller {
  const scope: Scope = scopeKind === "workspace" || scopeId === null ? { kind: "workspace" } : { kind: scopeKind, id: scopeId };
  return { key: id, workspace, actor: { kind: "member", email: owner, role, carriedBy: "tools key" }, scope };
}
