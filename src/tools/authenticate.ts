/** Who calls: a tools key in the `Authorization` header, bare or after `Bearer` or `ApiKey`. */
import { hashKey, keyPrefix } from "../kernel/ids.ts";
import { findToolsKey } from "../keys/find-tools-key.ts";
import type { ToolsKeyRow } from "../keys/store.ts";
import type { Caller, Scope } from "../operations/caller.ts";
import type { ToolsParts } from "./parts.ts";

/** @returns null for a key that is missing, malformed, of another kind, unknown or revoked: which of them is not told */
export async function authenticate(request: Request, parts: ToolsParts): Promise<Caller | null> {
  const key = givenKey(request.headers.get("authorization"), keyPrefix(parts.slug, "tools"));
  const row = key === null ? null : await findToolsKey(hashKey(key), parts);
  return row && callerOf(row);
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
