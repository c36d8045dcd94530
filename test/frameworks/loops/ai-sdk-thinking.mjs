/** The AI SDK with a model that thinks: it runs the tools and sends the thought back by itself, and the conversation goes on. */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { again, apiKey, baseURL, checkCities, model, question, thought, weather } from "./scene.mjs";

const weir = createOpenAICompatible({ name: "weir", baseURL, apiKey })(model);

for (const ask of [generateText, streamText]) {
  const messages = [];
  for (const content of [question, again]) {
    messages.push({ role: "user", content });
    const asked = [];
    const get_weather = tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => (asked.push(city), weather[city]),
    });
    const result = await ask({ model: weir, maxRetries: 0, messages, tools: { get_weather }, stopWhen: stepCountIs(3) });
    assert.equal(await result.text, "Oslo 7, Rome 19");
    checkCities(asked);
    assert.equal((await result.steps)[0].reasoningText, thought);
    messages.push(...(await result.response).messages);
  }
}
