import { expect, test } from "bun:test";
import { PartitionedLru } from "../../../src/gateway/admission/partitioned-lru.ts";
import { unknownKeysCachedMax } from "../../../src/gateway/limits.ts";

const right = { record: { id: "key-a" } };
const wrong = { record: null };

test("a flood of wrong keys pushes no right one out, and is itself bounded", () => {
  const memory = new PartitionedLru<typeof right | typeof wrong>();
  memory.set("right", right);
  for (let key = 0; key < 2 * unknownKeysCachedMax; key++) memory.set(`wrong ${key}`, wrong);
  expect(memory.get("right")).toBe(right);
  expect(memory.get("wrong 0")).toBeUndefined();
  expect(memory.get(`wrong ${2 * unknownKeysCachedMax - 1}`)).toBe(wrong);
});

test("the last that was learned of a key counts, whether it has become right or wrong", () => {
  const memory = new PartitionedLru<typeof right | typeof wrong>();
  memory.set("key", wrong);
  memory.set("key", right);
  expect(memory.get("key")).toBe(right);
  memory.set("key", wrong);
  expect(memory.get("key")).toBe(wrong);
  memory.clear();
  expect(memory.get("key")).toBeUndefined();
});
