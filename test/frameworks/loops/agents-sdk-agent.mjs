/** The Agents SDK over Responses, its default: it runs the tools by itself, and its history goes back as it came. */
import assert from "node:assert/strict";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
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
  tools,
  Workplace,
} from "./scene-agents.mjs";

setTracingDisabled(true);

const declared = tools.map((one) =>
  tool({
    name: one.name,
    description: one.description,
    parameters: schemaOf(one),
    strict: true,
    execute: async (input) => runTool(one.name, input),
  }),
);

function agentOf(key) {
  const client = new OpenAI({ apiKey: key, baseURL, maxRetries: 0 });
  return new Agent({
    name: "coder",
    instructions: "Be brief.",
    model: new OpenAIResponsesModel(client, model),
    modelSettings: { store: false },
    tools: declared,
  });
}

const asks = {
  whole: (agent, input) => run(agent, input),
  async streamed(agent, input) {
    const result = await run(agent, input, { stream: true });
    for await (const _ of result);
    await result.completed;
    return result;
  },
};

const agent = agentOf(apiKey);
for (const ask of Object.values(asks)) {
  const place = new Workplace();
  const first = await ask(agent, place.task);
  assert.equal(first.finalOutput, done);
  place.check();
  const second = await ask(agent, [...first.history, { role: "user", content: place.again }]);
  assert.equal(second.finalOutput, done);
}
await assert.rejects(asks.streamed(agent, brokenGreeting()));
await fails(402, () => asks.whole(agentOf(poorKey), greeting));
const limited = agentOf(limitedKey);
assert.equal((await asks.streamed(limited, greeting)).finalOutput, greeted);
await fails(429, () => asks.whole(limited, greeting));
