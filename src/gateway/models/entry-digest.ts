/** What a launch check was a check of. */
import { createHash } from "node:crypto";
import type { EmbeddingFacts, MaxTokensField, ProviderRecord, WireFormatName } from "./model.ts";

export interface CalledEntry {
  model: string;
  provider: ProviderRecord;
  format: WireFormatName;
  upstreamModel: string;
  maxTokensField: MaxTokensField;
  /** Absent: it is no embeddings model. */
  embeddings?: EmbeddingFacts | undefined;
}

/**
 * A digest of everything that decides whether a call works: provider, format, address, key and model name. Prices and limits are left
 * out, since a changed price needs no new launch check.
 */
export function entryDigest({ model, provider, format, upstreamModel, maxTokensField, embeddings }: CalledEntry): string {
  const facts = [model, provider.id, format, provider.baseUrl, provider.keyEnv, upstreamModel, maxTokensField];
  // The check compares the vector's length.
  const called = embeddings && [provider.embeddings?.format, provider.embeddings?.baseUrl, embeddings.dimensions];
  return createHash("sha256")
    .update(JSON.stringify(called ? [...facts, ...called] : facts))
    .digest("hex")
    .slice(0, 32);
}
