/** What a provider gets does not depend on whether a text is long enough to stay bytes: for each API of clients and each of providers. */
import { describe, expect, test } from "bun:test";
import { messagesFormat } from "../../../src/gateway/api/messages/request.ts";
import { chatRequestFormat, checkRequest, type RequestFormat } from "../../../src/gateway/api/request/chat-request.ts";
import { responsesFormat } from "../../../src/gateway/api/responses/request.ts";
import type { WireFormatName } from "../../../src/gateway/models/model.ts";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { longTexts } from "../../../src/http/long-texts.ts";
import { ManualClock } from "../../support/clock.ts";
import { testGeneration } from "../../support/providers/call.ts";
import { chatModel } from "../../support/providers/model.ts";
import { route } from "../../support/providers/routes.ts";
import { supportWords } from "../../../src/gateway/api/request/requested-model.ts";

type Say = (name: string) => string;

const schema = { type: "object", properties: { path: { type: "string" } } };
const apis: Record<string, { format: RequestFormat; body: (say: Say) => object }> = {
  "chat completions": {
    format: chatRequestFormat,
    body: (say) => ({
      messages: [
        { role: "system", content: say("system") },
        {
          role: "user",
          content: [
            { type: "text", text: say("part") },
            { type: "text", text: say("second part") },
          ],
          name: "ann",
        },
        {
          role: "assistant",
          content: say("answer"),
          tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: `{"path":"/"}` } }],
        },
        { role: "tool", tool_call_id: "a", content: say("result") },
        { role: "developer", content: say("late") },
        { role: "user", content: say("question") },
      ],
      tools: [{ type: "function", function: { name: "read", description: say("tool"), parameters: schema } }],
    }),
  },
  Messages: {
    format: messagesFormat({ version: "2023-06-01" }),
    body: (say) => ({
      max_tokens: 100,
      system: [{ type: "text", text: say("system") }],
      messages: [
        { role: "user", content: say("question") },
        {
          role: "assistant",
          content: [
            { type: "text", text: say("answer") },
            { type: "tool_use", id: "a", name: "read", input: { path: "/" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: say("result") },
            { type: "text", text: say("part") },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "b", name: "read", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: say("result part") }] }],
        },
      ],
      tools: [{ name: "read", description: say("tool"), input_schema: schema }],
    }),
  },
  Responses: {
    format: responsesFormat(new ManualClock()),
    body: (say) => ({
      store: false,
      instructions: say("instructions"),
      input: [
        { role: "user", content: say("question") },
        { type: "message", role: "user", content: [{ type: "input_text", text: say("part") }] },
        { type: "function_call", call_id: "a", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: say("result") },
        { role: "developer", content: say("late") },
      ],
      tools: [{ type: "function", name: "read", description: say("tool"), parameters: schema, strict: false }],
    }),
  },
};

const formats: WireFormatName[] = ["openai", "openai-responses", "anthropic", "google"];

for (const [api, { format, body }] of Object.entries(apis)) {
  describe(api, () => {
    test.each(formats)("to %s", (name) => {
      const model = chatModel(Object.keys(supportWords), { id: "acme/one", routes: [route(name, { format: name })] });
      const sent = (say: Say): string => {
        const bytes = new TextEncoder().encode(JSON.stringify({ model: "acme/one", ...body(say) }));
        const { chat } = checkRequest(bytes, format, { find: () => model });
        const [own] = model.routes;
        if (own === undefined) throw new Error("The model has no route");
        const call = { generation: testGeneration, route: own, chat: chat.body, maxOutputTokens: 50, streamed: false };
        const { body: json } = wireFormats[name].format.encode(call);
        const texts = chat.body[longTexts];
        return texts === undefined ? json : Buffer.from(texts.inserted(json)).toString();
      };
      const end = ` "\\ é🐀\n${"far ".repeat(4_000)}`;
      const short = sent((one) => `<${one}>`);
      const written = (one: string): string => JSON.stringify(`${one}${end}`).slice(1, -1);
      expect(sent((one) => `<${one}>${end}`)).toBe(short.replace(/<[a-z ]+>/g, written));
    });
  });
}
