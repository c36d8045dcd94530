/** The AI SDK: tools and the answer after them in one call, streamed and not; then an object by its schema. */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import { z } from "zod";
import { apiKey, baseURL, checkCities, checkReport, complaintOf, model, question, weather } from "./scene.mjs";

const weir = createOpenAICompatible({ name: "weir", baseURL, apiKey, supportsStructuredOutputs: true })(model);
const schema = z.object({ summary: z.string(), degrees: z.number().int() });
const settings = { model: weir, maxRetries: 0 };

for (const streamed of [false, true]) {
  const asked = [];
  const get_weather = tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => (asked.push(city), weather[city]),
  });
  const request = { ...settings, prompt: question, tools: { get_weather }, stopWhen: stepCountIs(3) };
  const text = streamed ? await streamText(request).text : (await generateText(request)).text;
  assert.equal(text, "Oslo 7, Rome 19");
  checkCities(asked);
  const report = async (prompt) => {
    const given = { ...settings, schema, prompt };
    if (!streamed) return (await generateObject(given)).object;
    const result = streamObject({ ...given, onError() {} });
    const [object] = await Promise.all([result.object, drained(result.partialObjectStream)]);
    return object;
  };
  checkReport(await report(await complaintOf(() => report(question))));
}

/** The SDK reads the stream only while its consumer reads. */
async function drained(stream) {
  for await (const _ of stream);
}
