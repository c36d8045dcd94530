import { describe, expect, test } from "bun:test";
import {
  decodeSettled,
  decodeSettlements,
  encodeSettled,
  encodeSettlement,
  encodeSettlements,
} from "../../../src/gateway/journal/settlement-codec.ts";
import { settlement } from "../../support/gateway/settlements.ts";

const good = settlement({ workspace: "ws-1", key: "key-1" });
const bytes = (text: string) => new TextEncoder().encode(text);

describe("settlements as bytes", () => {
  test("come back as they were", () => {
    const texts = [good, { ...good, model: 'a "quoted"\n漢' }].map(encodeSettlement);
    expect(decodeSettlements(encodeSettlements("batch", texts))).toEqual({
      batch: "batch",
      settlements: [good, { ...good, model: 'a "quoted"\n漢' }],
      invalid: [],
    });
  });

  test.each([
    ["a negative count", { durationMs: -1 }],
    ["a count beyond what is exact", { usage: { ...good.usage, promptTokens: 2 ** 53 } }],
    ["a count that is no whole number", { usage: { ...good.usage, completionTokens: 1.5 } }],
    ["an amount that is no number", { reserved: "1e5" }],
    ["a price below zero", { prices: { ...good.prices, output: "-1" } }],
    ["a time that no calendar has", { admittedAt: 8_640_000_000_000_001 }],
    ["another id", { generation: "gen-1" }],
    ["an end that is not known here", { outcome: "void" }],
    ["a field that is missing", { workspace: undefined }],
  ])("with %s are put aside alone, with the reason", (_, fields) => {
    const invalid = encodeSettlement({ ...good, ...(fields as object) });
    const decoded = decodeSettlements(encodeSettlements("batch", [encodeSettlement(good), invalid, encodeSettlement(good)]));
    expect(decoded.settlements).toEqual([good, good]);
    expect(decoded.invalid.map(({ text }) => text)).toEqual([invalid]);
    expect(decoded.invalid[0]?.reason).toStartWith(`/${Object.keys(fields)[0]}`);
  });

  test("with too few values are put aside alone, as is what is no settlement at all", () => {
    const texts = ["[]", encodeSettlement(good).replace(/,[^,]*]$/, "]"), "null", '"settled"', "{}"];
    const decoded = decodeSettlements(encodeSettlements("batch", [...texts, encodeSettlement(good)]));
    expect(decoded.settlements).toEqual([good]);
    expect(decoded.invalid.map(({ text }) => text)).toEqual(texts);
  });

  test("are understood as objects too: a spool may be older than the process that reads it", () => {
    const payload = bytes(JSON.stringify({ batch: "batch", settlements: [good] }));
    expect(decodeSettlements(payload)).toEqual({ batch: "batch", settlements: [good], invalid: [] });
  });

  test("without an envelope are an error", () => {
    for (const text of ["", "null", "[]", '{"batch":1,"settlements":[]}', '{"batch":"b"}'])
      expect(() => decodeSettlements(bytes(text))).toThrow();
  });

  test("confirmations come back as they were, and are nothing where they cannot be read", () => {
    expect(decodeSettled(encodeSettled(["a", "b"]))).toEqual(["a", "b"]);
    for (const text of ["", "{}", "[1]"]) expect(decodeSettled(bytes(text))).toEqual([]);
  });
});
