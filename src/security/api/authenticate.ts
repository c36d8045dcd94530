/** Who calls: a tools key in the `Authorization` header, bare or after `Bearer` or `ApiKey`. */
import { hashKey, keyPrefix } from "../../kernel/ids.ts";
import { findToolsKey } from "../../accounts/keys/find-tools-key.ts";
import type { ToolsKeyRow } from "../../accounts/keys/store.ts";
import type { Caller, Scope } from "./operations/caller.ts";
import type { Called } from "./calls/called.ts";
import type { ToolsParts } from "./calls/parts.ts";

/**
 * The call counts against its key. One that has called too often is refused before anybody is asked who it is.
 * @returns null for a key that is missing, malformed, of another kind, unknown or revoked: which of them is not told
 * @throws LimitReachedError
 */
export async function authenticate(request: Request, parts: ToolsParts): Promise<Called | null> {
  const key = givenKey(request.headers.get("authorization"), keyPrefix(parts.slug, "tools"));
  if (key === null) return null;
  const hash = hashKey(key);
  const { windows } = parts.limits;
  windows.require(hash);
  if (windows.knows(hash)) await parts.limits.door.enter(hash);
  const row = await findToolsKey(hash, parts);
  if (row === null) return null;
  windows.count(hash, row.requestsPerMinute);
  return { request, caller: callerOf(row), charge: (calls) => windows.charge(hash, calls) };
}

/** null where the header holds no key of our form: then nothing is hashed and nobody asked. What else stands beside a key makes it none. */
function givenKey(header: string | null, prefix: string): string | null {
  const [, key] = /^(?:(?:bearer|apikey) +)?(\S+)$/i.exec(header ?? "") ?? [];
  if (!key?.startsWith(prefix)) return null;
  return /^[0-9a-f]{64}$/.test(key.slice(prefix.length)) ? key : null;
}

function callerOf({ id, workspace, owner, role, scopeKind, scopeId }: ToolsKeyRow): Caller {
  const scope: Scope = scopeKind === "workspace" || scopeId === null ? { kind: "workspace" } : { kind: scopeKind, id: scopeId };
  return { key: id, workspace, owner, role, scope };
}
