import { createHmac } from "node:crypto";
import type { Secret } from "../../../kernel/secret.ts";

/** The header that proves who sent a body, and when. */
export const signatureHeader = "weir-signature";

/**
 * `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of the time, a full stop and the body, in the form that Stripe uses. While a secret is being
 * replaced, there is a `v1` of each.
 */
export function sign({ body, nowMs, secrets }: { body: string; nowMs: number; secrets: readonly Secret[] }): string {
  const seconds = Math.floor(nowMs / 1_000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}
