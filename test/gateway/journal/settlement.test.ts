import { describe, expect, test } from "bun:test";
import {
  decodeSettled,
  decodeSettlements,
  encodeSettled,
  encodeSettlement,
  encodeSettlements,
} from "../../../src/gateway/journal/settlement.ts";
import { settlement } from "../../support/gateway/settlements.ts";

const good = settlement({ workspace: "ws-1", key: "key-1" });
const ownKey = { id: "own-1", listCost: "120" };
const bytes = (text: string) => new TextEncoder().encode(text);

describe("the codec of settlements", () => {
  test("decoded settlements equal the encoded ones", () => {
    const fields = [{ tierAboveTokens: 200_000, endpoint: "completions" as const }, { ownKey }, { tierAboveTokens: 5, ownKey }];
    const rare = fields.map((some) => ({ ...good, ...some }));
    const settlements = [good, { ...good, model: 'a "quoted"\n漢' }, ...rare];
    const decoded = decodeSettlements(encodeSettlements("batch", settlements.map(encodeSettlement)));
    expect(decoded).toEqual({ batch: "batch", settlements, invalid: [] });
  });

  test("what few settlements have stands behind the values that all have", () => {
    const attempts = [{ provider: "acme", model: "acme/one", own_key: false, code: "upstream_error", ms: 5 }];
    const rare = { tierAboveTokens: 200_000, endpoint: "completions" as const };
    const routed = { ...good, ...rare, routing: { requested: "acme/one", attempts } };
    expect(decodeSettlements(encodeSettlements("batch", [encodeSettlement(routed)])).settlements).toEqual([routed]);
    const values = JSON.parse(encodeSettlement(routed)) as unknown[];
    expect(JSON.stringify(values.slice(0, -1))).toBe(encodeSettlement(good));
  });

  test.each([
    ["a negative count", { durationMs: -1 }],
    ["a count that is not exact", { usage: { ...good.usage, promptTokens: 2 ** 53 } }],
    ["a count that is not an integer", { usage: { ...good.usage, completionTokens: 1.5 } }],
    ["an amount that is not a number", { reserved: "1e5" }],
    ["a price below zero", { prices: { ...good.prices, output: "-1" } }],
    ["a time beyond the last Date", { admittedAt: 8_640_000_000_000_001 }],
    ["another id", { generation: "gen-1" }],
    ["a tier that is not a count", { tierAboveTokens: -1 }],
    ["a list cost that is not an amount", { ownKey: { id: "own-1", listCost: "-1" } }],
    ["an unknown outcome", { outcome: "void" }],
    ["an unknown endpoint", { endpoint: "images" }],
    ["a missing field", { workspace: undefined }],
  ])("only a settlement with %s is set aside, with the reason", (_, fields) => {
    const invalid = encodeSettlement({ ...good, ...(fields as object) });
    const decoded = decodeSettlements(encodeSettlements("batch", [encodeSettlement(good), invalid, encodeSettlement(good)]));
    expect(decoded.settlements).toEqual([good, good]);
    expect(decoded.invalid.map(({ text }) => text)).toEqual([invalid]);
    expect(decoded.invalid[0]?.reason).toStartWith(`/${Object.keys(fields)[0]}`);
  });

  test("only settlements with too few values, or of another shape, are set aside", () => {
    const texts = ["[]", encodeSettlement(good).replace(/,[^,]*]$/, "]"), "null", '"settled"', "{}", JSON.stringify(good)];
    const decoded = decodeSettlements(encodeSettlements("batch", [...texts, encodeSettlement(good)]));
    expect(decoded.settlements).toEqual([good]);
    expect(decoded.invalid.map(({ text }) => text)).toEqual(texts);
  });

  test("settlements without an envelope are an error", () => {
    for (const text of ["", "null", "[]", '{"batch":1,"settlements":[]}', '{"batch":"b"}'])
      expect(() => decodeSettlements(bytes(text))).toThrow();
  });

  test("decoded confirmations equal the encoded ones, and unreadable ones are empty", () => {
    expect(decodeSettled(encodeSettled(["a", "b"]))).toEqual(["a", "b"]);
    for (const text of ["", "{}", "[1]"]) expect(decodeSettled(bytes(text))).toEqual([]);
  });
});
