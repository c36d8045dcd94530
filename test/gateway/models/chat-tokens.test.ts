import { expect, test } from "bun:test";
import fc from "fast-check";
import { countedOnce, inputTokensBound, inputTokensEstimate } from "../../../src/gateway/models/chat-tokens.ts";
import { dialectFrom } from "../../../src/gateway/models/dialect.ts";
import { conversationOf } from "../../../src/gateway/providers/anthropic/messages.ts";
import { ThoughtsBeforeCalls } from "../../../src/gateway/providers/anthropic/thoughts.ts";
import { signerOf } from "../../../src/gateway/providers/wire/answers.ts";
import { googleConversation } from "../../../src/gateway/providers/google/request.ts";
import { idWithReasoning } from "../../../src/gateway/providers/openai-responses/answer.ts";
import { inputItems } from "../../../src/gateway/providers/openai-responses/request.ts";
import { fittedMessages } from "../../../src/gateway/providers/openai/request.ts";
import { signedToolCallId, signerNamed } from "../../../src/gateway/tool-call-id.ts";
import { threadMs } from "../../support/processes/thread-time.ts";
import { aRoute } from "../../support/providers/models.ts";

const user = (content: unknown) => ({ role: "user", content });

test("the bound is the UTF-8 bytes of the texts plus 16 a message", () => {
  expect(inputTokensBound({ model: "m", messages: [user("hello"), user("né")] })).toBe(16 + 5 + 16 + 3);
});

test("the bound counts names, tool calls and their arguments", () => {
  const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"a":1}' } };
  const bare = inputTokensBound({ messages: [{ role: "assistant", content: null }] });
  const calling = inputTokensBound({ messages: [{ role: "assistant", content: null, name: "ann", tool_calls: [call] }] });
  expect(bare).toBe(16);
  expect(calling).toBe(16 + 3 + Buffer.byteLength(JSON.stringify([call])));
});

const loop = (id: string) => [
  { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }] },
  { role: "tool", tool_call_id: id, content: "7" },
];

test("the bound counts the signature in the ids of a call and its result once, by its own bytes", () => {
  const signed = (bytes: number) =>
    signedToolCallId("call_1", { signer: "m", base64: Buffer.alloc(bytes, 7).toString("base64") });
  const plain = inputTokensBound({ messages: loop("call_1") });
  expect(inputTokensBound({ messages: loop(signed(48_000)) })).toBeWithin(plain + 48_000, plain + 48_000 + 2 * 40);
  expect(inputTokensBound({ messages: loop(signed(3)) })).toBeGreaterThan(plain);
});

interface SentFormat {
  /** An id with these thoughts. */
  signed(id: string, thoughts: Buffer): string;
  sent(messages: ReturnType<typeof loop>): unknown;
  /** The model gets back its thoughts. */
  thinks?: boolean;
}

const route = aRoute();
const signedFor = (signer: string) => (id: string, thoughts: Buffer) =>
  signedToolCallId(id, { signer, base64: thoughts.toString("base64") });
const formats: Record<string, SentFormat> = {
  openai: { signed: signedFor("m"), sent: (messages) => fittedMessages(messages, dialectFrom("openai")) },
  "openai that takes any id": {
    signed: signedFor("m"),
    sent: (messages) => fittedMessages(messages, { ...dialectFrom("openai"), toolCallIds: "any" }),
  },
  "openai-responses": {
    signed(id, thoughts) {
      const base64url = thoughts.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
      return idWithReasoning(id, base64url, "m");
    },
    sent: (messages) => inputItems(messages, "m"),
    thinks: true,
  },
  google: {
    signed: signedFor(signerNamed("gemini-3")),
    sent: (messages) => googleConversation(messages, "gemini-3").contents,
    thinks: true,
  },
  anthropic: {
    signed(id, thoughts) {
      const before = new ThoughtsBeforeCalls(route);
      before.block({ type: "thinking", thinking: "", signature: thoughts.toString("base64") });
      return before.signed(id);
    },
    sent: (messages) => conversationOf(messages, { signer: signerOf(route) }).turns,
    thinks: true,
  },
};

/** Bytes of all ids, and of all thoughts as a provider decrypts them. */
function bytesSent(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce((sum, [field, inner]: [string, unknown]) => {
    if (typeof inner !== "string") return sum + bytesSent(inner);
    if (["thoughtSignature", "signature", "encrypted_content"].includes(field)) return sum + Buffer.from(inner, "base64").length;
    return ["id", "call_id", "tool_call_id", "tool_use_id"].includes(field) ? sum + Buffer.byteLength(inner) : sum;
  }, 0);
}

test.each(Object.entries(formats))(
  "the bound holds for the ids and the thoughts that are sent to %s",
  (_, { signed, sent, thinks }) => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((all) => Buffer.from(all));
    fc.assert(
      fc.property(fc.stringMatching(/^[\w-]{1,50}$/), bytes, (id, thoughts) => {
        const messages = loop(signed(id, thoughts));
        const others = inputTokensBound({ messages: loop("") });
        const told = bytesSent(sent(messages));
        expect(inputTokensBound({ messages }) - others).toBeGreaterThanOrEqual(told);
        if (thinks) expect(told).toBeGreaterThanOrEqual(thoughts.length);
      }),
    );
  },
);

test("the bound counts tool schemas and response schemas as the JSON that providers put into the prompt", () => {
  const tools = [{ type: "function", function: { name: "f", description: "déjà vu", parameters: { type: "object" } } }];
  const response_format = { type: "json_schema", json_schema: { name: "x", schema: { type: "string" } } };
  const bytes = Buffer.byteLength(JSON.stringify(tools)) + Buffer.byteLength(JSON.stringify(response_format));
  expect(inputTokensBound({ messages: [], tools, response_format })).toBe(bytes);
});

test("the bound counts unknown fields, and no field that only controls or labels the call", () => {
  expect(inputTokensBound({ messages: [], someday: "12345" })).toBe(5);
  const labels = { model: "m", metadata: { a: "b" }, user: "u", stream: true, stream_options: {}, temperature: 1, max_tokens: 5 };
  expect(inputTokensBound({ messages: [], ...labels })).toBe(0);
});

test("the bound counts every text part", () => {
  const parts = [
    { type: "text", text: "abc" },
    { type: "text", text: "défg" },
  ];
  expect(inputTokensBound({ messages: [user(parts)] })).toBeGreaterThanOrEqual(16 + 3 + 5);
});

test("the bound is never below the bytes of the texts", () => {
  const texts = fc.array(fc.string({ unit: "binary" }), { maxLength: 20 });
  fc.assert(
    fc.property(texts, texts, (plain, parts) => {
      const messages = [...plain.map(user), user(parts.map((text) => ({ type: "text", text })))];
      const bytes = [...plain, ...parts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      expect(inputTokensBound({ messages })).toBeGreaterThanOrEqual(bytes + 16 * messages.length);
    }),
  );
});

test("the bound and the estimate of 8 MiB, plain or in parts, are computed without delaying other requests", () => {
  const text = "é\n".repeat((8 * 1024 * 1024) / 3);
  const plain = () => void inputTokensBound({ messages: [user(text)] });
  const parts = () => void inputTokensBound({ messages: [user([{ type: "text", text }])] });
  const small = Array.from({ length: 60_000 }, () => ({ type: "text", text: "small part" }));
  const estimates = [text, [{ type: "text", text }], small].map(
    (content) => () => void inputTokensEstimate({ messages: [user(content)] }),
  );
  for (const bound of [plain, parts, ...estimates]) expect(threadMs(bound, 250)).toBeLessThan(250);
});

test("the estimate counts the texts of messages, and tools and schemas as JSON", () => {
  const tokens = (content: unknown, more = {}) => inputTokensEstimate({ model: "m", messages: [user(content)], ...more });
  expect(tokens("hello there")).toBeWithin(4 + 2, 4 + 4);
  expect(tokens([{ type: "text", text: 'say "hello" twice\n' }])).toBe(tokens('say "hello" twice\n'));
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  expect(tokens("hello", { tools })).toBeGreaterThan(tokens("hello") + 15);
  expect(tokens("hello", { metadata: { a: "b" }, temperature: 1 })).toBe(tokens("hello"));
});

test("the estimate of a request never exceeds its bound, which is what is reserved", () => {
  const text = fc.string({ unit: "binary" });
  const call = fc.record({ id: text, type: fc.constant("function"), function: fc.record({ name: text, arguments: text }) });
  const message = fc.record({
    role: text,
    content: fc.oneof(text, fc.array(fc.record({ text }))),
    name: text,
    tool_calls: fc.array(call),
  });
  const request = fc.record({ messages: fc.array(message), tools: fc.array(fc.jsonValue()), stop: text });
  fc.assert(
    fc.property(request, (chat) => {
      expect(inputTokensEstimate(chat)).toBeLessThanOrEqual(inputTokensBound(chat));
    }),
  );
});

test("a prompt is counted when its estimate is needed, once", () => {
  const counted: string[] = [];
  const estimate = countedOnce("a prompt", (prompt) => counted.push(prompt) + 41);
  expect(counted).toEqual([]);
  expect([estimate(), estimate()]).toEqual([42, 42]);
  expect(counted).toEqual(["a prompt"]);
});
