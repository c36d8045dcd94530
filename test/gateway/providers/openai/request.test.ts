import { expect, test } from "bun:test";
import { encodeOpenaiRequest } from "../../../../src/gateway/providers/openai/request.ts";
import { aRoute } from "../../../support/providers/models.ts";

const seen = { source: "https://example.com", seen: "2026-11-28" };
const chat = {
  model: "stub/model",
  messages: [{ role: "user", content: "Hello" }],
  tools: [{ type: "function", function: { name: "f" } }],
  parallel_tool_calls: false,
};

function sentTo(dialect: Parameters<typeof aRoute>[0]): Record<string, unknown> {
  const call = { generation: "gen-abcdefghijklmnopqrstuvwxyz" as const, chat, maxOutputTokens: 7, streamed: false };
  return JSON.parse(encodeOpenaiRequest({ ...call, route: aRoute(dialect) }).body);
}

test("parallel_tool_calls goes on, except to a provider that refuses it: the gateway gives only the first call anyway", () => {
  expect(sentTo({})).toMatchObject({ parallel_tool_calls: false });
  expect(sentTo({ dialect: { parallel_tool_calls: { value: false, ...seen } } })).not.toHaveProperty("parallel_tool_calls");
  expect(chat.parallel_tool_calls).toBe(false);
});
