import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { apart, native, type ChatBody, type ChatMessage, type MessageFacts } from "../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import { signerOf } from "../../src/gateway/providers/wire/answers.ts";
import { packedThought, readPackedThought, readWrappedSeal, wrappedSeal } from "../../src/gateway/thoughts.ts";
import { route } from "../support/providers/routes.ts";

const signer = fc.stringMatching(/^[\w-]{1,40}$/);
const anyText = fc.string({ unit: "grapheme", maxLength: 200 });

test("a seal comes back byte for byte, whatever it holds", () => {
  fc.assert(
    fc.property(signer, fc.string({ unit: "binary", maxLength: 200 }), (who, seal) => {
      expect(readWrappedSeal(wrappedSeal({ signer: who, seal }))).toEqual({ signer: who, seal });
    }),
  );
  const long = "x.y==\n".repeat(100_000);
  expect(readWrappedSeal(wrappedSeal({ signer: "a", seal: long }))?.seal).toBe(long);
});

test("a packed thought comes back whole", () => {
  fc.assert(
    fc.property(signer, anyText, anyText, fc.boolean(), (who, text, seal, redacted) => {
      const thought = { signer: who, text, seal, ...(redacted && { redacted: true as const }) };
      const packed = packedThought(thought);
      expect(packed).toMatch(/^[\w.-]+$/);
      expect(readPackedThought(packed)).toEqual(thought);
    }),
  );
});

test.each([
  "",
  "w1",
  "w1.",
  "w1..x",
  "w1.a",
  "w2.a.x",
  "W1.a.x",
  " w1.a.x",
  "w1.a b.x",
  "EqQBCgIYAhIM1gbcDa9GJwZA2b3h",
  "gAAAAABo",
])("the text %p is someone else's", (text) => {
  expect(readWrappedSeal(text)).toBeNull();
  expect(readPackedThought(text)).toBeNull();
});

const packed = (value: string) => `w1.a.${Buffer.from(value).toString("base64url")}`;

test.each([
  "",
  "{",
  "null",
  '"text"',
  "{}",
  "[]",
  '["text"]',
  '["text",1]',
  '[1,"seal"]',
  '["text","seal",1,2]',
  '["text","seal",[1]]',
  '[["text"],"seal"]',
])("a client's own text %s is no thought", (value) => {
  expect(readPackedThought(packed(value))).toBeNull();
});

test("a packed thought that a client has filled with values or levels is not parsed", () => {
  for (const value of [`["","",${"[".repeat(10_000)}${"]".repeat(10_000)}]`, `["",""${",0".repeat(1_000_000)}]`]) {
    expect(readPackedThought(packed(value))).toBeNull();
  }
});

describe("who gets a thought back", () => {
  const own = { id: "key-1", provider: "acme", sealed: "s" } as unknown as NonNullable<ReturnType<typeof route>["ownKey"]>;

  test("is one model at one provider, in letters that ids and fields take", () => {
    const signers = [route("acme"), route("other"), { ...route("acme"), upstreamModel: "vendor/model.5" }].map(signerOf);
    expect(new Set(signers).size).toBe(3);
    for (const one of signers) expect(one).toMatch(/^[\w-]+$/);
  });

  test("is one account where the provider encrypts for the account", () => {
    const encrypting = route("acme", { format: "openai-responses" });
    expect(signerOf({ ...encrypting, ownKey: own })).not.toBe(signerOf(encrypting));
    expect(signerOf({ ...route("acme"), ownKey: own })).toBe(signerOf(route("acme")));
  });
});

describe("facts apart", () => {
  const canary = "CANARY";
  const facts: MessageFacts = {
    thoughts: [{ signer: "someone_else", text: canary, seal: canary, callsBefore: 0 }],
    source: { item: 7, parts: [7] },
  };
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Look it up" }] },
    {
      role: "assistant",
      content: "I do.",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "found" },
  ];
  const chat: ChatBody = { model: "acme/one", messages };

  test.each(Object.entries(wireFormats))(
    "of another model, and a request of another API, are not sent in the format %s",
    (name, { format }) => {
      const call = {
        generation: "gen-abcdefghijklmnopqrstuvwxyz",
        route: route("acme", { format: name as "openai" }),
        maxOutputTokens: 100,
        streamed: false,
      } as const;
      const other = name === "anthropic" ? "openai-responses" : "anthropic";
      const given: ChatBody = {
        ...chat,
        messages: messages.map((message) => ({ ...message, [apart]: facts })),
        [native]: { format: other, body: { canary } },
      };
      const { body, headers } = format.encode({ ...call, chat: given });
      expect({ body, headers }).toEqual(
        (({ body: alone, headers: same }) => ({ body: alone, headers: same }))(format.encode({ ...call, chat })),
      );
      expect(body).not.toContain(canary);
    },
  );

  test("are in no JSON, and in every copy of a message or a request", () => {
    const message: ChatMessage = { role: "user", content: "Hi", [apart]: facts };
    expect(JSON.stringify(message)).toBe('{"role":"user","content":"Hi"}');
    expect({ ...message }[apart]).toBe(facts);
    const own = { format: "anthropic", body: {} } as const;
    expect({ ...chat, [native]: own, model: "other" }[native]).toBe(own);
  });
});
