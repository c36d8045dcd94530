/** LangChain for JavaScript: tools bound to a model, streamed and not; structured output by both methods. */
import assert from "node:assert/strict";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { apiKey, baseURL, checkCities, checkReport, complaintOf, model, question, weather } from "./scene.mjs";

const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
const schema = z.object({ summary: z.string(), degrees: z.number().int() });
const get_weather = tool(async ({ city }) => weather[city], {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

async function whole(messages) {
  return await chat.bindTools([get_weather]).invoke(messages);
}

async function streamed(messages) {
  let answer;
  for await (const chunk of await chat.bindTools([get_weather]).stream(messages)) answer = answer ? answer.concat(chunk) : chunk;
  return answer;
}

for (const ask of [whole, streamed]) {
  const messages = [new HumanMessage({ content: question, name: "ann" })];
  const answer = await ask(messages);
  checkCities(answer.tool_calls.map(({ args }) => args.city));
  messages.push(answer);
  for (const call of answer.tool_calls) messages.push(await get_weather.invoke(call));
  assert.equal((await ask(messages)).content, "Oslo 7, Rome 19");
  for (const method of ["functionCalling", "jsonSchema"]) {
    const structured = chat.withStructuredOutput(schema, { method, name: "report" });
    const complaint = new HumanMessage(await complaintOf(() => structured.invoke(messages)));
    checkReport(await structured.invoke([...messages, complaint]));
  }
}
