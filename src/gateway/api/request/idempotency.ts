/**
 * The header Idempotency-Key, by which a client says that a request may repeat another one. It becomes a claim of two digests. The first is
 * made of the caller, the endpoint and the key, so that two callers' keys never meet and the client's own text is kept nowhere. The second
 * is made of these and the body, and shows whether the body has changed. Only with the key can a guess of the
 * body be tested against the log.
 * Admission, counters and ledger do the rest (admission/worker/service.ts, metering/settle.ts).
 * The key may be in quotes, as in the IETF's draft, or bare, as everybody else sends it.
 */
import { createHash } from "node:crypto";
import { GatewayError } from "../../../kernel/errors.ts";
import { isMemberCaller } from "../../../kernel/ids.ts";
import type { Caller } from "../../admission/message.ts";
import type { Claim, Endpoint } from "../../field-parts.ts";
import { idempotencyKeyCharactersMax } from "../../limits.ts";

const header = "Idempotency-Key";
/** 22 characters of base64url are 132 bits. */
const digestCharacters = 22;

/**
 * null: the request has no key, or comes from the Workbench.
 * @throws GatewayError invalid_request
 */
export function readClaim(
  request: Pick<Request, "headers">,
  { caller, endpoint, bytes }: { caller: Caller; endpoint: Endpoint | "chat"; bytes: Uint8Array },
): Claim | null {
  const value = request.headers.get(header);
  const { id } = caller.record;
  if (value === null || isMemberCaller(id)) return null;
  const use = JSON.stringify([id, endpoint, keyIn(value)]);
  return { id: digest(use), body: digest(use, bytes) };
}

function keyIn(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  const key = isQuoted ? value.slice(1, -1) : value;
  if (key.length > 0 && key.length <= idempotencyKeyCharactersMax && /^[\x21-\x7e]+$/.test(key)) return key;
  const message = `${header} must be 1 to ${idempotencyKeyCharactersMax} visible ASCII characters, bare or in quotes`;
  throw new GatewayError("invalid_request", { param: header, message });
}

function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("base64url").slice(0, digestCharacters);
}
