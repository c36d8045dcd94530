/** Tells two admissions of one generation id apart: the same facts give the same fingerprint in every process. */
import { createHash } from "node:crypto";
import type { AdmitAsk } from "./message.ts";

export function fingerprintOf(ask: Pick<AdmitAsk, "hash" | "model" | "inputTokens" | "maxTokens" | "tools">): string {
  const facts = JSON.stringify([ask.hash, ask.model, ask.inputTokens, ask.maxTokens, ask.tools]);
  return createHash("sha256").update(facts).digest("hex").slice(0, 16);
}
