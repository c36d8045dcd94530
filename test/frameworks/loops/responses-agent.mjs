/** The official package's Responses without a framework: the task whole and streamed, counts and failures. */
import assert from "node:assert/strict";
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
  thought,
  tools,
  Workplace,
} from "./scene-agents.mjs";

const declared = tools.map((tool) => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  parameters: schemaOf(tool),
  strict: true,
}));
const shared = { model, tools: declared, store: false, include: ["reasoning.encrypted_content"] };

function clientOf(key) {
  return new OpenAI({ apiKey: key, baseURL, maxRetries: 0 });
}

const asks = {
  whole: (client, input) => client.responses.create({ ...shared, input }),
  streamed: (client, input) => client.responses.stream({ ...shared, input }).finalResponse(),
};

/** Runs the tools until the model has said what it did. @returns the text */
async function converse(client, ask, input) {
  const thoughts = [];
  for (;;) {
    const answer = await ask(client, input);
    assert.equal(answer.status, "completed");
    input.push(...answer.output);
    const reasoning = answer.output.filter(({ type }) => type === "reasoning");
    thoughts.push(...reasoning.map(({ summary }) => summary.map(({ text }) => text).join("")));
    const calls = answer.output.filter(({ type }) => type === "function_call");
    if (calls.length === 0) {
      assert.deepEqual(thoughts, [thought]);
      return answer.output_text;
    }
    for (const { call_id, name, arguments: written } of calls) {
      input.push({ type: "function_call_output", call_id, output: runTool(name, written) });
    }
  }
}

const client = clientOf(apiKey);
for (const ask of Object.values(asks)) {
  const place = new Workplace();
  const input = [{ role: "user", content: place.task }];
  assert.equal(await converse(client, ask, input), done);
  place.check();
  input.push({ role: "user", content: place.again });
  assert.equal(await converse(client, ask, input), done);
  const { input_tokens } = await client.responses.inputTokens.count({ model, input, tools: declared });
  assert.ok(input_tokens > 0);
}

const events = [];
for await (const { type } of await client.responses.create({ ...shared, input: brokenGreeting(), stream: true }))
  events.push(type);
assert.equal(events.at(-1), "response.failed");
await fails(402, () => asks.whole(clientOf(poorKey), greeting));
const limited = clientOf(limitedKey);
assert.equal((await asks.streamed(limited, greeting)).output_text, greeted);
await fails(429, () => asks.streamed(limited, greeting));
