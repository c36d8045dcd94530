/** What a launch check was a check of. */
import { createHash } from "node:crypto";
import type { MaxTokensField, ProviderRecord } from "./model.ts";

export interface CalledEntry {
  model: string;
  provider: ProviderRecord;
  upstreamModel: string;
  maxTokensField: MaxTokensField;
}

/**
 * Names all that decides whether a call works: whom we call, how, with which key, and by which name of the model.
 * Prices and limits are left out: a new price is no reason to take a model away until it has been called again.
 */
export function entryDigest({ model, provider, upstreamModel, maxTokensField }: CalledEntry): string {
  const facts = [model, provider.id, provider.format, provider.baseUrl, provider.keyEnv, upstreamModel, maxTokensField];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
}
