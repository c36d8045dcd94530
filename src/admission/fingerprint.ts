import { createHash } from "node:crypto";
import type { AdmitAsk } from "./message.ts";

/** Tells two admissions of one generation id apart. Made once, by the front: worker, counters and spool carry it on. */
export function fingerprintOf(facts: Pick<AdmitAsk, "hash" | "model" | "inputTokens" | "maxTokens" | "tools">): string {
  const text = JSON.stringify([facts.hash, facts.model, facts.inputTokens, facts.maxTokens, facts.tools]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
