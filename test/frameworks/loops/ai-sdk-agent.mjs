/** The AI SDK with its providers for Responses and Messages, with only address and key changed: it runs the tools by itself. */
import assert from "node:assert/strict";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, isStepCount, streamText, tool } from "ai";
import {
  apiKey,
  baseURL,
  brokenGreeting,
  done,
  fails,
  greeted,
  greeting,
  limitedKey,
  model,
  poorKey,
  runTool,
  schemaOf,
  thought,
  tools,
  Workplace,
} from "./scene-agents.mjs";

const declared = Object.fromEntries(
  tools.map((one) => [
    one.name,
    tool({
      description: one.description,
      inputSchema: jsonSchema(schemaOf(one)),
      execute: async (input) => runTool(one.name, input),
    }),
  ]),
);
const providers = [
  { create: (key) => createOpenAI({ baseURL, apiKey: key })(model), options: { openai: { store: false } } },
  { create: (key) => createAnthropic({ baseURL, apiKey: key })(model), options: {} },
];

for (const { create, options } of providers) {
  const settings = (key) => ({
    model: create(key),
    maxRetries: 0,
    maxOutputTokens: 900,
    tools: declared,
    providerOptions: options,
  });
  for (const ask of [generateText, streamText]) {
    const place = new Workplace();
    const messages = [];
    for (const content of [place.task, place.again]) {
      messages.push({ role: "user", content });
      const result = await ask({ ...settings(apiKey), messages, stopWhen: isStepCount(8) });
      assert.equal(await result.text, done);
      assert.equal((await result.steps)[0].reasoningText, thought);
      messages.push(...(await result.response).messages);
    }
    place.check();
  }
  const broken = streamText({ ...settings(apiKey), prompt: brokenGreeting(), onError() {} });
  const parts = [];
  for await (const part of broken.fullStream) parts.push(part.type);
  assert.ok(parts.includes("error"), parts.join(", "));
  await fails(402, () => generateText({ ...settings(poorKey), prompt: greeting }));
}

const limited = { model: providers[0].create(limitedKey), maxRetries: 0, tools: declared, prompt: greeting };
assert.equal((await generateText({ ...limited, providerOptions: providers[0].options })).text, greeted);
await fails(429, () => generateText({ ...limited, providerOptions: providers[0].options }));
