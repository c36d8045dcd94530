import { hash } from "node:crypto";
import type { AdmitGeneration } from "./message.ts";

/** Distinguishes two admissions of one generation id. The gateway computes it; worker, counters and spool pass it on. */
export function fingerprintOf(
  facts: Pick<AdmitGeneration, "hash" | "model" | "inputTokens" | "promptTokens" | "maxTokens" | "tools" | "candidates">,
): string {
  const values: unknown[] = [facts.hash, facts.model, facts.inputTokens, facts.maxTokens, facts.tools];
  if (facts.candidates !== undefined) values.push(facts.candidates);
  if (facts.promptTokens !== undefined) values.push({ promptTokens: facts.promptTokens });
  const text = JSON.stringify(values);
  return hash("sha256", text, "hex").slice(0, 16);
}
