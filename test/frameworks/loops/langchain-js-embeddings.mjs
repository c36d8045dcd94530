/** LangChain for JavaScript: OpenAIEmbeddings, whose requests hold batches of texts. */
import assert from "node:assert/strict";
import { OpenAIEmbeddings } from "@langchain/openai";
import { apiKey, baseURL, model } from "./scene.mjs";

const settings = { model, apiKey, configuration: { baseURL }, maxRetries: 0 };
const embeddings = new OpenAIEmbeddings({ ...settings, batchSize: 2 });
const documents = await embeddings.embedDocuments(["Oslo", "Rome", "Oslo"]);
assert.deepEqual(
  documents.map((vector) => vector.length),
  [64, 64, 64],
);
assert.deepEqual(documents[0], documents[2]);
assert.notDeepEqual(documents[0], documents[1]);
assert.deepEqual(await embeddings.embedQuery("Oslo"), documents[0]);
assert.equal((await new OpenAIEmbeddings({ ...settings, dimensions: 8 }).embedQuery("Oslo")).length, 8);
