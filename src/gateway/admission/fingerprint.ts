import { hash } from "node:crypto";
import type { AdmitGeneration } from "./message.ts";

/** Tells two admissions of one generation id apart. Made once, by the front: worker, counters and spool carry it on. */
export function fingerprintOf(facts: Pick<AdmitGeneration, "hash" | "model" | "inputTokens" | "maxTokens" | "tools">): string {
  const text = JSON.stringify([facts.hash, facts.model, facts.inputTokens, facts.maxTokens, facts.tools]);
  return hash("sha256", text, "hex").slice(0, 16);
}
