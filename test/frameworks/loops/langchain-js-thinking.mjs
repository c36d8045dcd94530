/** LangChain for JavaScript with a model that thinks. It drops thoughts; those that are signed travel in the ids of the calls. */
import assert from "node:assert/strict";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { again, apiKey, baseURL, checkCities, model, question, weather } from "./scene.mjs";

const get_weather = tool(async ({ city }) => weather[city], {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});
const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 }).bindTools([get_weather]);

async function streamed(messages) {
  let answer;
  for await (const chunk of await chat.stream(messages)) answer = answer ? answer.concat(chunk) : chunk;
  return answer;
}

for (const ask of [(messages) => chat.invoke(messages), streamed]) {
  const messages = [];
  for (const text of [question, again]) {
    messages.push(new HumanMessage(text));
    const calling = await ask(messages);
    checkCities(calling.tool_calls.map(({ args }) => args.city));
    messages.push(calling);
    for (const call of calling.tool_calls) messages.push(await get_weather.invoke(call));
    const answer = await ask(messages);
    assert.match(answer.content, /^Oslo 7, Rome 19/);
    messages.push(answer);
  }
}
