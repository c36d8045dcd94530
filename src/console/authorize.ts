import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../kernel/secret.ts";
import { ControlError } from "../workspaces/control-error.ts";

/**
 * Lets the operator token pass and nothing else: no API key of either kind is one.
 * @throws ControlError unauthorized, with one message for all causes
 */
export function authorize(request: Request, operatorToken: Secret): void {
  const [, given] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (given !== undefined && timingSafeEqual(digest(given), digest(operatorToken.reveal()))) return;
  throw new ControlError("unauthorized", { field: null, message: "Send the operator token as a Bearer token" });
}

/** Digests have one length, so that comparing them tells nothing of the token's. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
