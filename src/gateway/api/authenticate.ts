/** Check 1: the key (401), then whether the platform is enabled for its workspace (403). It precedes all reading of the body. */
import type { Caller } from "../admission/client/admission.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { hashKey, type KeyId } from "../../kernel/ids.ts";
import type { Gateway } from "./gateway.ts";

/**
 * Answers from the admission workers' key cache and not from the database, so it is no `Authenticator` of `src/accounts`.
 * @throws GatewayError invalid_api_key, gateway_disabled, auth_unavailable
 */
export async function authenticate(request: Request, gateway: Gateway): Promise<Caller> {
  const key = bearerKey(request.headers.get("authorization"), gateway.keyPrefix);
  const caller = key === null ? null : await gateway.admission.authenticate(hashKey(key));
  if (caller === null) throw invalidKey(gateway.keyPrefix);
  if (!caller.record.enabled) throw new GatewayError("gateway_disabled");
  return caller;
}

/**
 * Check 1 of a member in the Workbench. The control API has checked the role; this checks, as for a key, what the workers know of it.
 * @param callerId the member's caller id
 * @throws GatewayError invalid_api_key, gateway_disabled, auth_unavailable
 */
export async function authenticateMember(callerId: KeyId, gateway: Gateway): Promise<Caller> {
  const caller = await gateway.admission.authenticate(hashKey(callerId));
  if (caller === null) throw new GatewayError("invalid_api_key", { message: "This member cannot use the Workbench at present" });
  if (!caller.record.enabled) throw new GatewayError("gateway_disabled");
  return caller;
}

/** The message never says which reason applied. */
export function invalidKey(keyPrefix: string): GatewayError {
  const message = `The API key is invalid, revoked or expired. Keys start with ${keyPrefix} and are sent as a Bearer token`;
  return new GatewayError("invalid_api_key", { message });
}

/**
 * null if the header holds no key of our form: then nothing is hashed or asked. The server has removed the spaces and tabs around
 * the header's value, as HTTP requires; anything else beside a key makes it invalid.
 */
function bearerKey(header: string | null, keyPrefix: string): string | null {
  const [, scheme, key] = /^(\S+) +(\S+)$/.exec(header ?? "") ?? [];
  if (scheme?.toLowerCase() !== "bearer" || !key?.startsWith(keyPrefix)) return null;
  return /^[0-9a-f]{64}$/.test(key.slice(keyPrefix.length)) ? key : null;
}
