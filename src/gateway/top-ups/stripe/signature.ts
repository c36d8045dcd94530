/** Signatures of Stripe's webhook: https://docs.stripe.com/webhooks#verify-manually */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Secret } from "../../../kernel/secret.ts";
import { webhookSkewMsMax } from "../limits.ts";

export type SignatureProblem = "signature" | "time";

interface Signed {
  /** The header `Stripe-Signature`. */
  header: string;
  /** The body as it arrived. */
  bytes: Uint8Array;
}

/**
 * @param secrets one, or two while they are exchanged; any signature may match any of them
 * @returns null: the signature is Stripe's and not older or newer than five minutes
 */
export function signatureProblem(
  { header, bytes }: Signed,
  { secrets, nowMs }: { secrets: readonly Secret[]; nowMs: number },
): SignatureProblem | null {
  const parts = header.split(",").map((part) => part.trim().split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time)) return "signature";
  const given = parts.flatMap(([name, value]) => (name === "v1" && /^[0-9a-f]{64}$/.test(value ?? "") ? [value ?? ""] : []));
  const expected = secrets.map((secret) => createHmac("sha256", secret.reveal()).update(`${time}.`).update(bytes).digest());
  // Every pair is compared, so that the time of the answer tells nothing.
  let matches = 0;
  for (const one of given) for (const other of expected) if (timingSafeEqual(Buffer.from(one, "hex"), other)) matches++;
  if (matches === 0) return "signature";
  return Math.abs(nowMs - Number(time) * 1000) > webhookSkewMsMax ? "time" : null;
}
