/** The AI SDK: embed and embedMany, which splits many texts into several requests, with usage. */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { cosineSimilarity, embed, embedMany } from "ai";
import { apiKey, baseURL, model } from "./scene.mjs";

const weir = createOpenAICompatible({ name: "weir", baseURL, apiKey }).textEmbeddingModel(model);
const { embeddings, usage } = await embedMany({ model: weir, values: ["Oslo", "Rome", "Oslo"], maxRetries: 0 });
assert.deepEqual(
  embeddings.map((vector) => vector.length),
  [64, 64, 64],
);
assert.ok(Math.abs(cosineSimilarity(embeddings[0], embeddings[2]) - 1) < 1e-6);
assert.notDeepEqual(embeddings[0], embeddings[1]);
assert.equal(usage.tokens, 3);
assert.deepEqual((await embed({ model: weir, value: "Rome", maxRetries: 0 })).embedding, embeddings[1]);
