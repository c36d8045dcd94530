/**
 * Check 1: who calls. A request without a valid key is 401. A workspace whose platform is off is 403, and so is an endpoint in early access
 * that is not switched on for it. Check 1 ends before any of the body is read, so strangers cost neither memory nor parsing. The record of
 * the key comes from the admission workers' cache, not from the database. It is therefore up to 30 seconds old, unless a change has cleared
 * it. No message says which reason applied to a refused key: that would confirm guesses.
 */
import { GatewayError } from "../../kernel/errors.ts";
import { hashKey, type KeyId } from "../../kernel/ids.ts";
import type { Caller } from "../admission/message.ts";
import type { Gateway } from "./gateway.ts";
import { refusedTo } from "./refused.ts";

/**
 * The caller of the key in the `Authorization` header. It is not an `Authenticator` of `src/accounts`, which reads the database.
 * @throws GatewayError invalid_api_key, gateway_disabled, auth_unavailable
 */
export function authenticate(request: Request, gateway: Gateway): Promise<Caller> {
  return callerOf(bearerKey(request.headers.get("authorization"), gateway.keyPrefix), gateway);
}

/**
 * The same, for clients of Messages: they may send the key in `x-api-key` instead. With two keys neither counts.
 * @throws GatewayError as above
 */
export function authenticateEither(request: Request, gateway: Gateway): Promise<Caller> {
  const { keyPrefix } = gateway;
  const { headers } = request;
  const bearer = headers.get("authorization");
  const bare = headers.get("x-api-key");
  if (bare === null) return authenticate(request, gateway);
  const isTheSame = bearer === null || bearerKey(bearer, keyPrefix) === bare;
  return callerOf(isTheSame && isKey(bare, keyPrefix) ? bare : null, gateway);
}

async function callerOf(key: string | null, gateway: Gateway): Promise<Caller> {
  const caller = key === null ? null : await gateway.admission.authenticate(hashKey(key));
  if (caller === null) throw invalidKey(gateway.keyPrefix);
  return enabled(caller);
}

/**
 * Check 1 of a member in the Workbench. The control API has checked the role; this checks what the workers know of it, as for a key.
 * @param callerId the member's caller id
 * @throws GatewayError invalid_api_key, gateway_disabled, auth_unavailable
 */
export async function authenticateMember(callerId: KeyId, gateway: Gateway): Promise<Caller> {
  const caller = await gateway.admission.authenticate(hashKey(callerId));
  if (caller === null) throw new GatewayError("invalid_api_key", { message: "This member cannot use the Workbench at present" });
  return enabled(caller);
}

function enabled(caller: Caller): Caller {
  if (!caller.record.enabled) throw refusedTo(caller, new GatewayError("gateway_disabled"));
  return caller;
}

/**
 * Endpoints in early access are switched on for each workspace.
 * @throws GatewayError gateway_disabled
 */
export function requireEarlyAccess({ record }: Caller, feature: "embeddings" | "completions"): void {
  if (!record.earlyAccess.includes(feature)) throw notEnabled();
}

const usualScheme = "Bearer ";
const keyDigits = /^[0-9a-f]{64}$/;

/**
 * null if the header holds no key of our form: then nothing is hashed or asked. The server has removed the spaces and tabs around the
 * header's value, as HTTP requires; anything else around the key makes it invalid.
 */
function bearerKey(header: string | null, keyPrefix: string): string | null {
  if (header === null) return null;
  // The usual spelling needs no further check of the header.
  const usual = header.startsWith(usualScheme) ? header.slice(usualScheme.length) : "";
  if (isKey(usual, keyPrefix)) return usual;
  const [, scheme, key = ""] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  return scheme?.toLowerCase() === "bearer" && isKey(key, keyPrefix) ? key : null;
}

function isKey(text: string, keyPrefix: string): boolean {
  return text.startsWith(keyPrefix) && keyDigits.test(text.slice(keyPrefix.length));
}

/** The message never says which reason applied. */
function invalidKey(keyPrefix: string): GatewayError {
  const message = `The API key is invalid, revoked or expired. Keys start with ${keyPrefix} and are sent as a Bearer token`;
  return new GatewayError("invalid_api_key", { message });
}

function notEnabled(): GatewayError {
  return new GatewayError("gateway_disabled", { message: "This endpoint is in early access and is not enabled for the account" });
}
