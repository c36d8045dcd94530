/** Embeddings models and their provider's answers, in OpenAI's format. */
import type { ModelEntry } from "../../../src/gateway/models/schema.ts";
import { chat, json, type StubAnswer } from "./stub-answers.ts";
import { stubModel } from "./stub-catalog.ts";

/** Four dimensions (2 to 4 on request), 100 tokens of context, at most 16 inputs, 1.00 USD per 1M tokens. */
export function embeddingModel(entry: Partial<ModelEntry> = {}): ModelEntry {
  return stubModel({
    id: "stub/embed",
    upstream_model: "stub-embed",
    name: "Stub embed",
    kind: "embeddings",
    context_length: 100,
    max_output_tokens: null,
    prices_per_1m_usd: { input: "1.00", output: "0" },
    supports: ["token_input"],
    dimensions: { default: 4, allowed: { min: 2, max: 4 } },
    max_inputs: 16,
    ...entry,
  });
}

/** The vector of an input at this place. */
export function vectorAt(index: number, dimensions = 4): number[] {
  return Array.from({ length: dimensions }, (_, place) => (place === 0 ? index + 1 : 0.5));
}

export function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

export interface EmbeddingAnswerPlan {
  /** Default: 3 tokens for each input. null: none. */
  usage?: Record<string, unknown> | null;
  /** Changes the items of `data`. */
  change?: (data: Record<string, unknown>[]) => unknown[];
}

/** A good answer: a vector for each input, in the requested form and length. To a chat request it is a chat answer. */
export function embeddings({ usage, change = (data) => data }: EmbeddingAnswerPlan = {}): StubAnswer {
  return (response, call) => {
    const inputs = call.body["input"];
    if (!Array.isArray(inputs)) return chat("Hi")(response, call);
    const dimensions = Number(call.body["dimensions"] ?? 4);
    const data = inputs.map((_, index) => {
      const vector = vectorAt(index, dimensions);
      return { object: "embedding", index, embedding: call.body["encoding_format"] === "base64" ? base64Of(vector) : vector };
    });
    const tokens = inputs.length * 3;
    const counted = usage === undefined ? { prompt_tokens: tokens, total_tokens: tokens } : usage;
    return json({ object: "list", data: change(data), model: "stub-embed", ...(counted && { usage: counted }) })(response, call);
  };
}
