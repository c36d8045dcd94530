/** Instructions behind the first words of the user: each format keeps their place, and what it adds is held. */
import { describe, expect, test } from "bun:test";
import type { WireFormatName } from "../../../../src/gateway/models/model.ts";
import { apart, type ChatBody, type ChatMessage } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { pathText } from "../../../../src/gateway/providers/provider-error.ts";
import { withReminders } from "../../../../src/gateway/providers/wire/requests.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";

const late = (content: unknown): ChatMessage => ({ role: "system", content, [apart]: { late: true } });
const instructions: ChatMessage = { role: "system", content: "Be brief." };
const conversation: ChatMessage[] = [
  instructions,
  { role: "user", content: "a" },
  late("Now in French."),
  { role: "assistant", content: "b" },
  { role: "user", content: "c" },
];
const reminder = "<system-reminder>\nNow in French.\n</system-reminder>";

function encoded(format: WireFormatName, messages: ChatMessage[], provider = {}): Record<string, unknown> {
  const route = aRoute({ format: format as "openai", ...provider });
  const chat: ChatBody = { model: "stub/model", messages };
  const { body } = wireFormats[format].format.encode({
    generation: testGeneration,
    route: { ...route, format },
    chat,
    maxOutputTokens: 100,
    streamed: false,
  });
  return JSON.parse(body) as Record<string, unknown>;
}

describe("in its place", () => {
  test("an instruction stays where a provider takes it there", () => {
    const dialect = { instructions: { value: "anywhere", source: "https://example.test", seen: "2026-11-28" } };
    const { messages } = encoded("openai", conversation, { dialect });
    expect(messages).toEqual(JSON.parse(JSON.stringify(conversation)) as never);
    const { input } = encoded("openai-responses", conversation);
    expect((input as unknown[])[2]).toEqual({ role: "system", content: "Now in French." });
  });

  test("it is a reminder in the user's words where instructions only begin a prompt", () => {
    expect(encoded("openai", conversation)["messages"]).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "a" },
      { role: "user", content: reminder },
      { role: "assistant" },
      { role: "user" },
    ]);
    expect(encoded("anthropic", conversation)).toMatchObject({
      system: "Be brief.",
      messages: [{ role: "user", content: [{ text: "a" }, { text: reminder }] }, { role: "assistant" }, { role: "user" }],
    });
    expect(encoded("google", conversation)).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "a" }, { text: reminder }] }, { role: "model" }, { role: "user" }],
    });
  });

  test("without the mark it is an instruction as before", () => {
    const unmarked = conversation.map(({ role, content }) => ({ role, content }));
    expect(encoded("openai", unmarked)["messages"]).toMatchObject([{ content: "Be brief.\n\nNow in French." }, {}, {}, {}]);
    expect(withReminders(unmarked)).toBe(unmarked);
  });

  test("of several parts the first begins it, the last ends it, and breakpoints stay", () => {
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two", cache_control: { type: "ephemeral" } },
    ];
    const [message] = withReminders([late(parts)]);
    expect(message).toMatchObject({
      role: "user",
      content: [{ text: "<system-reminder>\none" }, { text: "two\n</system-reminder>", cache_control: { type: "ephemeral" } }],
    });
  });
});

test.each<WireFormatName>(["openai", "anthropic", "google"])("what %s adds to late instructions is held", (format) => {
  const added = (messages: ChatMessage[]) => wireFormats[format].format.addedBytes?.({ model: "m", messages }) ?? 0;
  const plain = conversation.filter((message) => message !== conversation[2]);
  const both = [...conversation, late("x")];
  expect(added(both) - added(plain)).toBe(2 * (reminder.length - "Now in French.".length));
});

test.each<[WireFormatName, string, string]>([
  ["openai", "messages[2].content", "messages[2].content"],
  ["anthropic", "messages[0].content[1].text", "messages[2].content"],
  ["google", "contents[0].parts[1].text", "messages[2].content"],
])("a field that %s refuses in a reminder is the instruction's", (format, path, field) => {
  const route = { ...aRoute({ format: format as "openai" }), format };
  const find = wireFormats[format].format.clientField?.({ chat: { model: "m", messages: conversation }, route });
  const read = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const found = find?.(read) ?? null;
  expect(found === null ? null : pathText(found)).toBe(field);
});

test("a failed tool is marked for Anthropic's models, and is text alone elsewhere", () => {
  const tool_calls = [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }];
  const result: ChatMessage = { role: "tool", tool_call_id: "1", content: "no such file" };
  const failed = [
    { role: "user", content: "a" },
    { role: "assistant", tool_calls },
    { ...result, [apart]: { isError: true as const } },
  ];
  const plain = [...failed.slice(0, 2), result];
  expect(encoded("anthropic", failed)).toMatchObject({
    messages: [{}, {}, { content: [{ type: "tool_result", is_error: true }] }],
  });
  expect(JSON.stringify(encoded("anthropic", plain))).not.toContain("is_error");
  for (const format of ["openai", "openai-responses", "google"] as const)
    expect(encoded(format, failed)).toEqual(encoded(format, plain));
});

test("no format sends anything else of what stands apart", () => {
  const facts = { thoughts: [{ signer: "A", text: "SECRET", seal: "SECRET", callsBefore: 0 }], source: { item: 7, parts: [9] } };
  const marked = conversation.map((message) => ({ ...message, [apart]: { ...message[apart], ...facts } }));
  for (const format of ["openai", "openai-responses", "anthropic", "google"] as const)
    expect(encoded(format, marked)).toEqual(encoded(format, conversation));
});
