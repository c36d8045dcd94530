import { expect, test } from "bun:test";
import type { OwnKey } from "../../../src/accounts/keys/record.ts";
import { recordsCachedBytesMax } from "../../../src/gateway/admission/limits.ts";
import { PartitionedLru } from "../../../src/gateway/admission/partitioned-lru.ts";
import { unknownKeysCachedMax } from "../../../src/gateway/limits.ts";

const valid = { record: { ownKeys: null } };
const invalid = { record: null };

test("a flood of invalid keys evicts no valid key, and is bounded itself", () => {
  const cache = new PartitionedLru<typeof valid | typeof invalid>();
  cache.set("valid", valid);
  for (let key = 0; key < 2 * unknownKeysCachedMax; key++) cache.set(`invalid ${key}`, invalid);
  expect(cache.get("valid")).toBe(valid);
  expect(cache.get("invalid 0")).toBeUndefined();
  expect(cache.get(`invalid ${2 * unknownKeysCachedMax - 1}`)).toBe(invalid);
});

test("the newest entry of a key counts, whether the key became valid or invalid", () => {
  const cache = new PartitionedLru<typeof valid | typeof invalid>();
  cache.set("key", invalid);
  cache.set("key", valid);
  expect(cache.get("key")).toBe(valid);
  cache.set("key", invalid);
  expect(cache.get("key")).toBe(invalid);
  cache.clear();
  expect(cache.get("key")).toBeUndefined();
});

test("records with many own keys are bounded in bytes, not only in number", () => {
  const cache = new PartitionedLru<{ record: { ownKeys: OwnKey[] } }>();
  const large = { sealed: "s".repeat(recordsCachedBytesMax / 4), dataKey: null, checks: [] } as unknown as OwnKey;
  for (let key = 0; key < 5; key++) cache.set(`key ${key}`, { record: { ownKeys: [large] } });
  const kept = [0, 1, 2, 3, 4].filter((key) => cache.get(`key ${key}`) !== undefined);
  expect(kept).toEqual([2, 3, 4]);
});
