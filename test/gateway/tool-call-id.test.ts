import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import { mintedToolCallId, readToolCallId, signedToolCallId, signerNamed } from "../../src/gateway/tool-call-id.ts";

/** Each with one call without an id, in an answer without an id. */
const answers = {
  openai: { choices: [{ message: { tool_calls: [{ function: { name: "f", arguments: "{}" } }] }, finish_reason: "stop" }] },
  "openai-responses": { output: [{ type: "function_call", name: "f", arguments: "{}" }] },
  anthropic: { content: [{ type: "tool_use", name: "f", input: {} }], stop_reason: "tool_use" },
  google: { candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] }, finishReason: "STOP" }] },
};

const signer = "gemini-3_5-flash";
const id = fc.string({ minLength: 1, maxLength: 20 });
const model = fc.string({ maxLength: 20 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 3_000 });

test("an id returns its signature, its original id and its model's name unchanged", () => {
  fc.assert(
    fc.property(id, model, bytes, (plain, name, signed) => {
      const signature = { signer: signerNamed(name), base64: Buffer.from(signed).toString("base64") };
      const text = signedToolCallId(plain, signature);
      expect(text).toStartWith(plain);
      expect(text.slice(plain.length)).toMatch(/^[\w.-]+$/);
      expect(readToolCallId(text)).toEqual({ id: plain, signature });
    }),
  );
});

test("a signature in the URL alphabet returns the same signature", () => {
  const signed = Buffer.from([0xfb, 0xff, 0xfe]);
  const text = signedToolCallId("a", { signer, base64: signed.toString("base64url") });
  expect(readToolCallId(text).signature).toEqual({ signer, base64: signed.toString("base64") });
});

test.each(["", "not base64!", "a b", "=="])("the signature %p is invalid and leaves the id unchanged", (base64) => {
  expect(signedToolCallId("call_1", { signer, base64 })).toBe("call_1");
});

test.each(["", "call_1", "functions.go:0", "toolu_01A", ".sig.m.c2ln", "a.sig.m.", "a.sig.c2ln", "a.sig.m.b c", "a.sign.m.b"])(
  "the id %p, which is nobody's signed one, stays as it is",
  (text) => {
    expect(readToolCallId(text)).toEqual({ id: text, signature: null });
  },
);

test("signers of different models differ", () => {
  expect(signerNamed("gemini-3.5-flash")).toBe(signer);
  expect(signerNamed("gemini-3.5-flash-lite")).not.toBe(signer);
});

test("a call without an id gets one made from its answer's id that OpenAI accepts, or a random one if the answer has none", () => {
  expect(mintedToolCallId("R3sp-0_nse", 1)).toBe("call_R3sp-0_nse_1");
  for (const answer of [`chatcmpl-${crypto.randomUUID()}`, "é|x".repeat(50), "", "///", null, undefined, 7]) {
    expect(mintedToolCallId(answer, 99)).toMatch(/^call_[\w-]{1,32}_99$/);
  }
  expect(mintedToolCallId(null, 0)).not.toBe(mintedToolCallId(null, 0));
});

test.each(Object.entries(answers))("two answers of a provider of the format %s never share a call id", (name, body) => {
  const decode = wireFormats[name as "openai"]?.format.decodeAnswer;
  const [first, second] = [1, 2].map(() => JSON.stringify(decode?.(body).message["tool_calls"]));
  expect(first).toMatch(/"id":"call_[0-9a-f]{24}_0"/);
  expect(second).not.toBe(first);
});

test("of an answer's long id only the end is read for each call", () => {
  let read = 0;
  const replace = String.prototype.replace;
  const spy = spyOn(String.prototype, "replace").mockImplementation(function (this: string, ...all: unknown[]) {
    read += this.length;
    return Reflect.apply(replace, this, all) as string;
  });
  try {
    const made = Array.from({ length: 100 }, (_, index) => mintedToolCallId(`resp-${"x".repeat(100_000)}`, index));
    expect(new Set(made).size).toBe(100);
    expect(made[7]).toBe(`call_${"x".repeat(32)}_7`);
  } finally {
    spy.mockRestore();
  }
  expect(read).toBeLessThan(10_000);
});
