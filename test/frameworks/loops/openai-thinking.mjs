/** The official package with a model that thinks: its messages go back as they came, with the thought. */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { again, apiKey, baseURL, checkCities, model, question, thought, weather } from "./scene.mjs";

const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function", function: { name: "get_weather", parameters } }];

async function whole(messages) {
  return (await client.chat.completions.create({ model, messages, tools })).choices[0].message;
}

/** The package's helper keeps only the last piece of a field that it does not know. */
async function streamed(messages) {
  const stream = client.chat.completions.stream({ model, messages, tools });
  let reasoning_content = "";
  for await (const { choices } of stream) reasoning_content += choices[0]?.delta.reasoning_content ?? "";
  const message = await stream.finalMessage();
  return reasoning_content === "" ? message : { ...message, reasoning_content };
}

for (const ask of [whole, streamed]) {
  const messages = [];
  for (const content of [question, again]) {
    messages.push({ role: "user", content });
    const calling = await ask(messages);
    assert.equal(calling.reasoning_content, thought);
    messages.push(calling);
    const calls = calling.tool_calls.map((call) => ({ id: call.id, ...JSON.parse(call.function.arguments) }));
    checkCities(calls.map(({ city }) => city));
    for (const { id, city } of calls) messages.push({ role: "tool", tool_call_id: id, content: weather[city] });
    const answer = await ask(messages);
    assert.equal(answer.content, "Oslo 7, Rome 19");
    messages.push(answer);
  }
}
