import { describe, expect, test } from "bun:test";
import { checkChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../../src/gateway/api/request/requested-model.ts";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { aModel, aRoute } from "../../../support/providers/models.ts";

const claude = aModel({ supports: Object.keys(supportWords) }, { format: "anthropic" });
const cache_control = { type: "ephemeral" };
const text = (words: string) => ({ type: "text", text: words });
const cached = (words: string) => ({ ...text(words), cache_control });
const user = (content: unknown) => ({ role: "user", content });
const hello = user("Hello");
const call = { id: "a", type: "function", function: { name: "go", arguments: "{}" } };

function checked(fields: object) {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: "stub/model", messages: [hello], ...fields }));
  return checkChat(bytes, { find: () => claude });
}

function sent(fields: object): Record<string, unknown> {
  const generation = "gen-abcdefghijklmnopqrstuvwxyz";
  const chat = checked(fields).body;
  return JSON.parse(anthropic.encode({ generation, route: aRoute(), chat, maxOutputTokens: 100, streamed: false }).body);
}

/** Code and param; null: it passes. */
function refusal(fields: object): string | null {
  try {
    checked(fields);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param}`;
    throw error;
  }
}

describe("a cache breakpoint in the Messages API", () => {
  test("of the whole request is at the top level", () => {
    expect(sent({ cache_control })["cache_control"]).toEqual(cache_control);
    expect(sent({})).not.toContainKey("cache_control");
  });

  test("of a tool is at the tool", () => {
    const tool = { type: "function", function: { name: "go" } };
    expect(sent({ tools: [tool, { ...tool, cache_control }] })["tools"]).toEqual([
      { name: "go", input_schema: { type: "object" } },
      { name: "go", input_schema: { type: "object" }, cache_control },
    ]);
  });

  test("of an instruction stays at its text, and every text stays the block that it was", () => {
    const messages = [
      { role: "system", content: [text("Be "), cached("brief."), text("Be "), text("kind.")] },
      { role: "system", content: "Speak Norwegian." },
      { role: "developer", content: [cached("Rhyme.")], name: "ann" },
      { role: "developer", content: [text(" ")] },
      hello,
    ];
    expect(sent({ messages })["system"]).toEqual([
      text("Be "),
      cached("brief."),
      text("Be "),
      text("kind."),
      text("Speak Norwegian."),
      cached("ann: Rhyme."),
    ]);
  });

  test("that moves on from turn to turn leaves the blocks before it as they were, so that the provider's cache knows them", () => {
    const texts = ["Be brief.", "Be kind.", "Rhyme."];
    const blocksWithMarkAt = (place: number): unknown[] => {
      const content = texts.map((one, index) => (index === place ? cached(one) : text(one)));
      return sent({ messages: [{ role: "system", content }, hello] })["system"] as unknown[];
    };
    const turns = texts.map((_, place) => blocksWithMarkAt(place).map((block) => (block as { text: string }).text));
    expect(turns).toEqual([texts, texts, texts]);
  });

  test("stays at its text in a conversation", () => {
    const messages = [
      user([cached("a"), text("b")]),
      { role: "assistant", content: [text("c"), cached("d")], tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: [text("4"), cached("2")] },
      { role: "user", name: "ann", content: [text(" "), cached("e")] },
    ];
    expect(sent({ messages })["messages"]).toEqual([
      { role: "user", content: [cached("a"), text("b")] },
      { role: "assistant", content: [text("c"), cached("d"), { type: "tool_use", id: "a", name: "go", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "a", content: "42", cache_control }, cached("ann: e")],
      },
    ]);
  });

  test("of an empty tool result stays", () => {
    const result = { role: "tool", tool_call_id: "a", content: [cached("")] };
    const turns = sent({ messages: [hello, { role: "assistant", tool_calls: [call] }, result] })["messages"];
    expect(turns).toMatchObject([{}, {}, { content: [{ type: "tool_result", tool_use_id: "a", cache_control }] }]);
  });

  test.each(["system", "user", "assistant"])("of a blank text of the %s is refused, since blank texts are not sent", (role) => {
    const messages = [hello, { role, content: [text("a"), cached(" \n")] }];
    expect(refusal({ messages })).toBe("unsupported_parameter messages[1].content[1].cache_control");
  });

  test("is the fourth at most", () => {
    const tools = [{ type: "function", function: { name: "go" }, cache_control }];
    const three = [user([cached("a"), cached("b"), cached("c")])];
    expect(refusal({ tools, messages: three })).toBeNull();
    expect(refusal({ tools, messages: [...three, user([text("d"), cached("e")])] })).toBe(
      "unsupported_parameter messages[1].content[1].cache_control",
    );
    expect(refusal({ tools, messages: three, cache_control })).toBe("unsupported_parameter cache_control");
  });
});
