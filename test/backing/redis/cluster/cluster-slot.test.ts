import { expect, test } from "bun:test";
import { clusterSlot } from "../../../../src/backing/redis/cluster/cluster-slot.ts";

test("a workspace lies in the slot that Redis Cluster computes", () => {
  expect(clusterSlot("123456789")).toBe(0x31c3);
  expect(clusterSlot("user1000")).toBe(3443);
  expect(clusterSlot("")).toBe(0);
});
