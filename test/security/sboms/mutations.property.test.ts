/** Every mutation of a document is read or refused by SbomRefusal: nothing else is thrown. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import { SbomRefusal } from "../../../src/security/sboms/refusal.ts";
import { bomJson, bomXml, bytesOf, spdx3Json, spdxJson, spdxTagValue } from "../../support/security/sbom-documents.ts";

const sources: [string, unknown][] = [
  ["CycloneDX JSON", bomJson("1.6")],
  ["CycloneDX XML", bomXml("1.7")],
  ["SPDX JSON", spdxJson("2.2")],
  ["SPDX tag-value", spdxTagValue("2.3")],
  ["SPDX 3", spdx3Json()],
];

/** @returns whether it was read */
function isRead(bytes: Uint8Array): boolean {
  try {
    const document = readSbom(bytes);
    expect(readSbom(bytes).digest).toBe(document.digest);
    return true;
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    expect(error.message).not.toBe("");
    return false;
  }
}

describe.each(sources)("%s", (_, source) => {
  const bytes = bytesOf(source);

  test("with bytes changed, cut out or doubled", () => {
    const edit = fc.record({ at: fc.nat(bytes.length - 1), length: fc.nat(20), put: fc.uint8Array({ maxLength: 6 }) });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let changed = Array.from(bytes);
        for (const { at, length, put } of edits) changed = [...changed.slice(0, at), ...put, ...changed.slice(at + length)];
        isRead(new Uint8Array(changed));
      }),
      { numRuns: 200 },
    );
  });

  test("with pieces of itself put elsewhere", () => {
    const piece = fc.tuple(fc.nat(bytes.length), fc.nat(60), fc.nat(bytes.length));
    fc.assert(
      fc.property(piece, ([from, length, to]) => {
        isRead(new Uint8Array([...bytes.slice(0, to), ...bytes.slice(from, from + length), ...bytes.slice(to)]));
      }),
      { numRuns: 200 },
    );
  });
});

describe.each(sources.filter(([, source]) => typeof source === "object"))("%s", (_, source) => {
  /** Replaces the value at one position of the document, in the order of a traversal. */
  function replaced(value: unknown, put: unknown, place: { left: number }): unknown {
    if (place.left-- === 0) return put;
    if (Array.isArray(value)) return value.map((item) => replaced(item, put, place));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, put, place)]));
  }

  test("with any value in the place of another", () => {
    fc.assert(
      fc.property(fc.nat(120), fc.jsonValue(), (at, put) => {
        isRead(bytesOf(replaced(source, put, { left: at })));
      }),
      { numRuns: 250 },
    );
  });
});

test("any bytes at all", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void isRead(bytes)),
    { numRuns: 500 },
  );
});
