import { expect, test, describe } from "bun:test";
import { dialectFrom, type Dialect } from "../../../../src/gateway/models/dialect.ts";
import { callIdForms, encodeOpenaiRequest, fittedMessages } from "../../../../src/gateway/providers/openai/request.ts";
import type { ChatMessage } from "../../../../src/gateway/providers/provider.ts";
import { CallIds } from "../../../../src/gateway/providers/wire/call-ids.ts";
import { aRoute } from "../../../support/providers/models.ts";
import { randomFrom } from "../../../support/random.ts";

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

/** What each fact of a provider's dialect does to the messages that are sent. */

function fitted(messages: ChatMessage[], facts: Partial<Dialect> = {}): ChatMessage[] {
  return fittedMessages(messages, { ...dialectFrom("openai"), ...facts });
}

const user: ChatMessage = { role: "user", content: "Hello" };
const calling = (id: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  role: "assistant",
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
  ...more,
});
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "42" });
const said = (reasoning_content: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  role: "assistant",
  content: "Hi",
  reasoning_content,
  ...more,
});

describe("what a provider of the OpenAI format is not known to refuse", () => {
  test("is sent as it came, as the same objects", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: [{ type: "text", text: "Be kind" }], name: "rules" },
      { ...user, name: "ann" },
      said("thinking", { name: "host" }),
      calling("call_1"),
      result("call_1"),
      user,
    ];
    const sent = fitted(messages);
    expect(sent).toEqual(messages);
    for (const [index, message] of sent.entries()) expect(message).toBe(messages[index] as ChatMessage);
  });

  test("OpenAI's own conversation is sent as it came", () => {
    const facts: Partial<Dialect> = { developerRole: true, instructions: "anywhere", refusals: true, reasoningContent: "never" };
    const refusal: ChatMessage = { role: "assistant", refusal: "No" };
    const messages: ChatMessage[] = [
      { role: "developer", content: "Be brief" },
      user,
      refusal,
      { role: "system", content: "Go on" },
    ];
    expect(fitted(messages, facts)).toEqual(messages);
  });
});

describe("instructions", () => {
  const developer: ChatMessage = { role: "developer", content: "Be brief" };

  test("developer is sent as system where the provider does not know the role", () => {
    expect(fitted([developer, user])).toEqual([{ role: "system", content: "Be brief" }, user]);
    expect(fitted([developer, user], { developerRole: true })).toEqual([developer, user]);
  });

  test("several become the first message, in their order and with their speakers", () => {
    const later: ChatMessage = { role: "system", content: "Be kind", name: "rules" };
    const [first, ...others] = fitted([developer, user, later, user]);
    expect(first).toEqual({ role: "system", content: "Be brief\n\nrules: Be kind" });
    expect(others).toEqual([user, user]);
  });

  test("parts stay parts", () => {
    const parts: ChatMessage = { role: "system", content: [{ type: "text", text: "Be kind" }] };
    expect(fitted([developer, parts, user])[0]?.content).toEqual([
      { type: "text", text: "Be brief" },
      { type: "text", text: "Be kind" },
    ]);
  });

  test("they stay where they are for a provider that takes them anywhere", () => {
    const messages: ChatMessage[] = [user, { role: "system", content: "Be kind" }, user];
    expect(fitted(messages, { instructions: "anywhere" })).toEqual(messages);
  });
});

describe("names", () => {
  const ann: ChatMessage = { role: "user", content: "Hello", name: "ann" };
  const host: ChatMessage = { role: "assistant", content: "Hi", name: "host" };
  const rules: ChatMessage = { role: "system", content: [{ type: "text", text: "Be kind" }], name: "rules" };

  test("stand before the text where the provider takes none, and the model's own is left out", () => {
    expect(fitted([rules, ann, host], { messageNames: "none" })).toEqual([
      { role: "system", content: [{ type: "text", text: "rules: Be kind" }] },
      { role: "user", content: "ann: Hello" },
      { role: "assistant", content: "Hi" },
    ]);
  });

  test("stay with users where the provider takes only theirs", () => {
    expect(fitted([rules, ann, host], { messageNames: "user" })).toEqual([
      { role: "system", content: [{ type: "text", text: "rules: Be kind" }] },
      ann,
      { role: "assistant", content: "Hi" },
    ]);
  });

  test("the name of a function stays", () => {
    const called: ChatMessage = { role: "function", name: "f", content: "42" };
    expect(fitted([called], { messageNames: "none" })).toEqual([called]);
  });
});

describe("contents", () => {
  test("a list of texts becomes one text where the provider takes no lists", () => {
    const parts = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(fitted([{ role: "user", content: parts }], { textParts: false })).toEqual([{ role: "user", content: "ab" }]);
  });

  test("an earlier refusal becomes text where the provider has no field for it", () => {
    const refused: ChatMessage = { role: "assistant", content: [{ type: "refusal", refusal: "I will not" }] };
    expect(fitted([refused])).toEqual([{ role: "assistant", content: "I will not" }]);
    expect(fitted([{ role: "assistant", refusal: "No" }])).toEqual([{ role: "assistant", content: "No" }]);
  });

  test("a call has an empty text where the provider wants a content", () => {
    expect(fitted([calling("a"), result("a")], { nullContent: false })[0]).toEqual(calling("a", { content: "" }));
  });

  test("an answer that says nothing is left out", () => {
    const empties: ChatMessage[] = [
      { role: "assistant" },
      { role: "assistant", content: "" },
      { role: "assistant", content: [{ type: "text", text: "" }] },
      said("thinking", { content: "" }),
    ];
    expect(fitted([user, ...empties, user])).toEqual([user, user]);
  });

  test("the model speaks between a tool's result and a user where the provider wants it, also where it said nothing", () => {
    const messages = [user, calling("a"), result("a"), said("thinking", { content: "" }), user];
    const [, , , between, last] = fitted(messages, { userAfterTool: false });
    expect([between?.role, last]).toEqual(["assistant", user]);
    expect(fitted(messages)).toEqual([user, calling("a"), result("a"), user]);
  });
});

test("a conversation that ends with the model's words ends with a user's where the provider wants it", () => {
  const messages = [user, said("thinking", { content: "It rains in" })];
  expect(fitted(messages, { endsWithUser: true })).toEqual([...messages, { role: "user", content: "Continue." }]);
  expect(fitted([user, calling("a"), result("a")], { endsWithUser: true }).at(-1)).toEqual(result("a"));
  expect(fitted(messages)).toEqual(messages);
});

describe("reasoning that comes back", () => {
  const messages = [user, said("I greet")];
  const last = (reasoningContent: Dialect["reasoningContent"], given = messages): unknown =>
    fitted(given, { reasoningContent }).at(-1);

  test("goes on in the field or the parts that the provider has, or not at all", () => {
    expect(last("as_sent")).toEqual(said("I greet"));
    expect(last("required")).toEqual(said("I greet"));
    expect(last("as_reasoning")).toEqual({ role: "assistant", content: "Hi", reasoning: "I greet" });
    expect(last("never")).toEqual({ role: "assistant", content: "Hi" });
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "I greet" }] };
    expect(last("as_thinking_parts")).toEqual({ role: "assistant", content: [thinking, { type: "text", text: "Hi" }] });
  });

  test("an empty one is sent in no other field", () => {
    expect(last("as_reasoning", [said("")])).toEqual({ role: "assistant", content: "Hi" });
    expect(last("as_thinking_parts", [said("")])).toEqual({ role: "assistant", content: "Hi" });
  });

  test("a call of another model has a blank one where the provider wants one, and an answer without a call none", () => {
    const given = [
      calling("a"),
      result("a"),
      calling("b", { reasoning_content: "" }),
      result("b"),
      { role: "assistant", content: "Hi" },
    ];
    expect(fitted(given, { reasoningContent: "required" }).map(({ reasoning_content }) => reasoning_content)).toEqual([
      " ",
      undefined,
      " ",
      undefined,
      undefined,
    ]);
  });
});

describe("ids of calls", () => {
  const openaiId = "call_PTLP8xhu3uwZk4l3nlnrrJha";
  const vllmId = `chatcmpl-tool-${"0123456789abcdef".repeat(2)}`;
  const idsOf = (messages: ChatMessage[]): unknown[] =>
    messages.flatMap(({ tool_calls, tool_call_id }) => [
      ...((tool_calls ?? []) as { id: string }[]).map(({ id }) => id),
      ...[tool_call_id ?? []].flat(),
    ]);
  const loop = (id: string): ChatMessage[] => [calling(id), result(id)];

  test("are the same for a call and its result, in every request", () => {
    for (const toolCallIds of ["characters_40", "alphanumeric_9"] as const) {
      const [call, answer] = idsOf(fitted(loop(vllmId), { toolCallIds }));
      expect(call).toBe(answer as string);
      expect(call).not.toBe(vllmId);
      expect(idsOf(fitted([user, ...loop("a23456789"), ...loop(vllmId)], { toolCallIds })).slice(-2)).toEqual([call, call]);
    }
  });

  test("have the form that the provider takes, and stay if they have it", () => {
    expect(idsOf(fitted(loop(openaiId)))).toEqual([openaiId, openaiId]);
    expect(String(idsOf(fitted(loop(vllmId)))[0])).toMatch(/^call_[0-9a-f]{35}$/);
    expect(String(idsOf(fitted(loop(openaiId), { toolCallIds: "alphanumeric_9" }))[0])).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(idsOf(fitted(loop("abc12DEF9"), { toolCallIds: "alphanumeric_9" }))).toEqual(["abc12DEF9", "abc12DEF9"]);
    expect(idsOf(fitted(loop(vllmId), { toolCallIds: "any" }))).toEqual([vllmId, vllmId]);
  });

  test("have no signature of another format where any id is taken", () => {
    const messages = [...loop("call_1.sig.gemini.AAAA"), ...loop("call_1.sig.gemini.BBBB")];
    const [first, , second] = idsOf(fitted(messages, { toolCallIds: "any" }));
    expect(first).toBe("call_1");
    expect([typeof second, second === first, String(second).includes(".sig.")]).toEqual(["string", false, false]);
  });

  test("of one conversation stay different, also where one is what another becomes", () => {
    const made = String(idsOf(fitted(loop(openaiId), { toolCallIds: "alphanumeric_9" }))[0]);
    const messages = [...loop(openaiId), ...loop(made), ...loop(openaiId)];
    const [first, , second, , third] = idsOf(fitted(messages, { toolCallIds: "alphanumeric_9" }));
    expect([first, third]).toEqual([made, made]);
    expect(second).not.toBe(made);
    expect(String(second)).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test("of any conversation stay different and the same, whatever comes after them", () => {
    const random = randomFrom(40);
    // Nine of one letter or two make many that are taken already.
    const text = () => Array.from({ length: 9 + Math.floor(random() * 2) }, () => (random() < 0.5 ? "a" : "b")).join("");
    const given = [...new Set(Array.from({ length: 500 }, text))];
    const sent = idsOf(fitted(given.flatMap(loop), { toolCallIds: "alphanumeric_9" }));
    expect(new Set(sent).size).toBe(given.length);
    const some = given.slice(0, 250);
    expect(idsOf(fitted(some.flatMap(loop), { toolCallIds: "alphanumeric_9" }))).toEqual(sent.slice(0, 2 * some.length));
  });

  // With a walk over what is taken for each of them, this would run for many times the limit of a test.
  test("of a conversation whose client makes them collide cost no more than others", () => {
    const idsOfConversation = () => new CallIds(callIdForms.alphanumeric_9);
    const takenNumbers = Array.from({ length: 20_000 }, (_, index) => String(20_001 + index).padStart(9, "0"));
    const foreign = Array.from({ length: 6_600 }, (_, index) => `foreign-${index}`);
    const ids = idsOfConversation();
    const madeOf = foreign.map((id) => idsOfConversation().of(id));
    const sent = [...takenNumbers, ...madeOf, ...foreign].map((id) => ids.of(id));
    expect(new Set(sent).size).toBe(sent.length);
  });

  test("only what is sent changes: the given messages stay as they are", () => {
    const messages = [{ role: "developer", content: "x", name: "n" }, ...loop(vllmId)];
    const before = JSON.stringify(messages);
    fitted(messages, { toolCallIds: "alphanumeric_9", messageNames: "none", reasoningContent: "required" });
    expect(JSON.stringify(messages)).toBe(before);
  });
});
