/** The wire formats of embeddings. Mistral and Voyage speak OpenAI's with other names of a few fields. */
import type { EmbeddingFormatName } from "../models/model.ts";
import { cohereEmbeddings } from "./cohere/embeddings.ts";
import type { EmbeddingFormat } from "./embedding.ts";
import { googleEmbeddings } from "./google/embeddings.ts";
import { openaiEmbeddings } from "./openai/embeddings.ts";

export const embeddingFormats: Record<EmbeddingFormatName, EmbeddingFormat> = {
  openai: openaiEmbeddings({ dimensions: "dimensions", encoding: "base64", inputType: null, always: {} }),
  mistral: openaiEmbeddings({ dimensions: "output_dimension", encoding: "float", inputType: null, always: {} }),
  // Without its type a text would be embedded as neither query nor document. A text that is too long is refused, never cut.
  voyage: openaiEmbeddings({
    dimensions: "output_dimension",
    encoding: null,
    inputType: "document",
    always: { truncation: false },
  }),
  cohere: cohereEmbeddings,
  google: googleEmbeddings,
};
