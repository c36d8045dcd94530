import { expect, test } from "bun:test";
import fc from "fast-check";
import { readToolCallId, signedToolCallId } from "../../src/providers/tool-call-id.ts";

const id = fc.string({ minLength: 1, maxLength: 20 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 3_000 });

test("a signature comes out of the id as it went in, and so does the id", () => {
  fc.assert(
    fc.property(id, bytes, (plain, signature) => {
      const base64 = Buffer.from(signature).toString("base64");
      const signed = signedToolCallId(plain, base64);
      expect(signed).toStartWith(plain);
      expect(signed.slice(plain.length)).toMatch(/^[\w.-]+$/);
      expect(readToolCallId(signed)).toEqual({ id: plain, signature: base64 });
    }),
  );
});

test("a signature in the alphabet for addresses is the same one", () => {
  const signature = Buffer.from([0xfb, 0xff, 0xfe]);
  const signed = signedToolCallId("a", signature.toString("base64url"));
  expect(readToolCallId(signed).signature).toBe(signature.toString("base64"));
});

test.each([null, "", "not base64!", "a b", "=="])("the signature %p is none", (signature) => {
  expect(signedToolCallId("call_1", signature)).toBe("call_1");
});

test.each(["", "call_1", "functions.go:0", "toolu_01A", ".sig.c2ln", "a.sig.", "a.sig.b c", "a.sign.b"])(
  "the id %p, which is nobody's signed one, stays as it is",
  (text) => {
    expect(readToolCallId(text)).toEqual({ id: text, signature: null });
  },
);
