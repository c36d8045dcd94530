/** An agent's loop with the official package: two tools at once, an answer that does not fit its schema, and a retry. */
import { beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { report, scripted, weatherTool } from "../frameworks/scripted-model.ts";
import { thinking } from "../frameworks/thinking-model.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { modelOf, stage } from "./stage.ts";
import { upstreams } from "./upstreams.ts";

type Messages = OpenAI.ChatCompletionMessageParam[];

const degrees: Record<string, string> = { Oslo: "7", Rome: "19" };
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function" as const, function: { name: weatherTool, parameters: city } }];
const schema = { type: "object", properties: { summary: { type: "string" }, degrees: { type: "integer" } } };
const response_format = { type: "json_schema" as const, json_schema: { name: "report", schema } };

test("every format has its scripted models", () => {
  expect(Object.keys(scripted)).toEqual(upstreams.map(({ name }) => name));
  expect(Object.keys(thinking)).toEqual(upstreams.map(({ name }) => name));
});

describe.each(Object.entries(scripted))("a model behind %s", (format, answer) => {
  let client: OpenAI;
  let stub: ProviderStub;

  beforeAll(async () => {
    const on = await stage("embedded");
    stub = on.stub(format);
    client = on.client((await on.fleet.operator().customer({ credit: "1" })).keys[0]?.key ?? "");
  }, 90_000);

  test.each([false, true])("the loop runs to its end (streamed: %p)", async (streamed) => {
    const ask = async (messages: Messages, more: object = {}) => {
      stub.answerOnce(answer);
      const request = { model: modelOf(format), messages, tools, ...more };
      if (streamed) return client.chat.completions.stream(request).finalMessage();
      return (await client.chat.completions.create(request)).choices[0]?.message;
    };
    const messages: Messages = [{ role: "user", name: "ann", content: "How are Oslo and Rome? Report it." }];
    const calling = await ask(messages);
    const calls = calling?.tool_calls?.filter((call) => call.type === "function") ?? [];
    const asked = calls.map((call) => JSON.parse(call.function.arguments) as { city: string });
    expect(asked).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    if (calling) messages.push(calling);
    for (const [index, { id }] of calls.entries()) {
      const named = { name: weatherTool, content: degrees[asked[index]?.city ?? ""] ?? "" };
      messages.push({ role: "tool", tool_call_id: id, ...named });
    }
    const wrong = await ask(messages, { response_format });
    expect(JSON.parse(wrong?.content ?? "")).toEqual({ ...report, degrees: "tepid" });
    if (wrong) messages.push(wrong);
    messages.push({ role: "user", content: "degrees is to be a number" });
    const right = await ask(messages, { response_format, parallel_tool_calls: false });
    expect(JSON.parse(right?.content ?? "")).toEqual(report);
  });
});
