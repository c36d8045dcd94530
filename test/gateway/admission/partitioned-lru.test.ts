import { expect, test } from "bun:test";
import { PartitionedLru } from "../../../src/gateway/admission/partitioned-lru.ts";
import { unknownKeysCachedMax } from "../../../src/gateway/limits.ts";

const valid = { record: { id: "key-a" } };
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
