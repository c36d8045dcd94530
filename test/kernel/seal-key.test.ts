import { describe, expect, test } from "bun:test";
import { createDecipheriv, createHmac } from "node:crypto";
import { inspect } from "node:util";
import { SealError, SealKey, sealedBy } from "../../src/kernel/seal-key.ts";

const plain = new TextEncoder().encode("a secret text");
const key = new SealKey(Buffer.alloc(32, 1));

describe("sealed bytes", () => {
  test("sealed bytes open only with the same key for the same purpose", () => {
    const blob = key.seal(plain, "a thing");
    expect(Buffer.from(key.open(blob, "a thing"))).toEqual(Buffer.from(plain));
    expect(() => key.open(blob, "another thing")).toThrow(SealError);
    expect(() => SealKey.random().open(blob, "a thing")).toThrow(SealError);
  });

  test("sealed bytes do not contain the plain text, and are different each time", () => {
    const blobs = Array.from({ length: 100 }, () => Buffer.from(key.seal(plain, "a thing")));
    expect(blobs.some((blob) => blob.includes("nobody"))).toBe(false);
    expect(new Set(blobs.map((blob) => blob.toString("hex"))).size).toBe(blobs.length);
  });

  test("sealed bytes do not open when a byte is changed or missing", () => {
    const blob = key.seal(plain, "a thing");
    for (let at = 0; at < blob.length; at++) {
      const changed = new Uint8Array(blob);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => key.open(changed, "a thing")).toThrow(SealError);
      expect(() => key.open(blob.subarray(0, at), "a thing")).toThrow(SealError);
    }
  });

  test("empty and large texts can be sealed", () => {
    for (const bytes of [new Uint8Array(), new Uint8Array(9_000_000).fill(7)]) {
      expect(Buffer.compare(key.open(key.seal(bytes, "size"), "size"), bytes)).toBe(0);
    }
  });

  test("sealed bytes name the key that sealed them", () => {
    expect(sealedBy(key.seal(plain, "a thing"))).toBe(key.id);
    expect(key.id).toMatch(/^[0-9a-f]{16}$/);
    for (const bytes of [new Uint8Array(), Buffer.from("plain text that was never sealed, whatever it is")]) {
      expect(() => sealedBy(bytes)).toThrow(SealError);
    }
  });

  test("sealed bytes are AES-256-GCM in the documented layout, with the purpose as additional data", () => {
    const blob = Buffer.from(key.seal(plain, "a thing"));
    const own = createHmac("sha256", Buffer.alloc(32, 1)).update("a thing").digest();
    const opening = createDecipheriv("aes-256-gcm", own, blob.subarray(9, 21));
    opening.setAAD(Buffer.from("a thing")).setAuthTag(blob.subarray(-16));
    expect(Buffer.concat([opening.update(blob.subarray(21, -16)), opening.final()])).toEqual(Buffer.from(plain));
  });
});

describe("a key", () => {
  test("a printed key does not show its bytes", () => {
    const secret = new SealKey(Buffer.from("0123456789abcdef0123456789abcdef"));
    for (const text of [String(secret), JSON.stringify({ secret }), inspect(secret)]) {
      expect(text).not.toContain("0123456789abcdef0123");
      expect(text).toContain(secret.id);
    }
  });

  test.each([0, 16, 31, 33, 64])("a key of %d bytes is refused", (bytes) => {
    expect(() => new SealKey(new Uint8Array(bytes))).toThrow(RangeError);
  });
});
