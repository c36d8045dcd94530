/** Reads what only embeddings models have in the catalog, and refuses it for other models. */
import { trimmedEnd } from "../../kernel/trim-end.ts";
import { EntryError } from "./entry-error.ts";
import type { EmbeddingFacts, EmbeddingFormatName, ProviderRecord, WireFormatName } from "./model.ts";
import type { ModelEntry, ProviderEntry } from "./schema.ts";

/**
 * The words that an embeddings model may have in `supports`: it takes token ids as input, and its vectors depend on `input_type`.
 * docs/reference/inference.md explains them.
 */
export const embeddingWords = ["token_input", "input_type"] as const;
export type EmbeddingWord = (typeof embeddingWords)[number];

/** The format of embeddings by that of chat; Anthropic has none. */
const formatOf: Partial<Record<WireFormatName, EmbeddingFormatName>> = {
  openai: "openai",
  "openai-responses": "openai",
  google: "google",
  sandbox: "openai",
};

export function providerEmbeddings({ format, base_url, embeddings }: ProviderEntry): Pick<ProviderRecord, "embeddings"> {
  const name = embeddings?.format ?? formatOf[format];
  if (name === undefined) return {};
  const baseUrl = embeddings?.base_url ?? base_url;
  if (!URL.canParse(baseUrl)) throw new EntryError("embeddings.base_url", `"${baseUrl}" is not a URL`);
  return { embeddings: { format: name, baseUrl: trimmedEnd(baseUrl, "/") } };
}

/**
 * The facts of an embeddings model; undefined for another kind, and for a model that is only announced.
 * @throws EntryError for fields that the kind does not have, or that contradict each other
 */
export function embeddingFacts(entry: ModelEntry): EmbeddingFacts | undefined {
  if (entry.kind !== "embeddings") {
    for (const field of ["dimensions", "max_inputs", "normalize"] as const) {
      if (entry[field] !== undefined) throw new EntryError(field, `is only for embeddings models, and this one is ${entry.kind}`);
    }
    return undefined;
  }
  requireEmbeddingFields(entry);
  const { dimensions, max_inputs: inputsMax, normalize = false } = entry;
  if (dimensions === undefined || inputsMax === undefined) {
    if (entry.listed_as !== "available") return undefined;
    const missing = dimensions === undefined ? "dimensions" : "max_inputs";
    throw new EntryError(missing, "is required for an embeddings model listed as available");
  }
  const allowedDimensions = dimensions.allowed ?? null;
  const facts = { dimensions: dimensions.default, allowedDimensions, inputsMax, normalize };
  if (allowedDimensions !== null && !allowsDimensions(facts, dimensions.default)) {
    throw new EntryError("dimensions.default", "is not among the allowed dimensions");
  }
  return facts;
}

function requireEmbeddingFields(entry: ModelEntry): void {
  if (entry.routes !== undefined) {
    throw new EntryError(
      "routes",
      "are refused for an embeddings model: two providers may pool or scale its vectors differently",
    );
  }
  if (entry.max_output_tokens !== null)
    throw new EntryError("max_output_tokens", "must be null: an embeddings model writes none");
  const output = entry.prices_per_1m_usd?.output;
  if (output !== undefined && Number(output) !== 0) {
    throw new EntryError("prices_per_1m_usd.output", "must be 0: an embeddings model writes no tokens");
  }
  const known: readonly string[] = embeddingWords;
  const word = entry.supports.find((one) => !known.includes(one));
  if (word !== undefined) throw new EntryError("supports", `has "${word}", which is no word of embeddings models`);
}

/** Whether a request may ask for vectors of this length. */
export function allowsDimensions(
  { allowedDimensions: allowed }: Pick<EmbeddingFacts, "allowedDimensions">,
  asked: number,
): boolean {
  if (allowed === null) return false;
  return "min" in allowed ? asked >= allowed.min && asked <= allowed.max : allowed.includes(asked);
}
