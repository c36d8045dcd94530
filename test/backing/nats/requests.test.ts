import { describe, expect, test } from "bun:test";
import { busSilenceMsMax, busTickMs, workerSilenceMsMax } from "../../../src/backing/limits.ts";
import { WorkerPool } from "../../../src/backing/nats/requests.ts";

function poolOf(...ids: string[]): WorkerPool {
  const pool = new WorkerPool();
  for (const id of ids) pool.heard(id);
  return pool;
}

function pass(pool: WorkerPool, ms: number): void {
  for (let turn = 0; turn < ms / busTickMs; turn++) pool.tick();
}

describe("who gets the next message", () => {
  test("servers get messages in turn, two in flight to each", () => {
    const pool = poolOf("a", "b");
    expect(Array.from({ length: 5 }, () => pool.take())).toEqual(["a", "b", "a", "b", null]);
    pool.replied("b");
    expect([pool.take(), pool.take()]).toEqual(["b", null]);
  });

  test("as many messages may be in flight as the servers in turn take, and one when there is none", () => {
    const pool = poolOf("a", "b");
    expect(pool.width).toBe(4);
    pool.late("a");
    expect(pool.width).toBe(2);
    pool.left("b");
    expect(pool.width).toBe(1);
  });

  test("a server that left a message unanswered is passed over until it beats, and starts with a free place then", () => {
    const pool = poolOf("a", "b");
    expect([pool.take(), pool.take(), pool.take()]).toEqual(["a", "b", "a"]);
    pool.late("a");
    pool.late("a");
    expect([pool.take(), pool.take()]).toEqual(["b", null]);
    pool.heard("a");
    expect([pool.take(), pool.take(), pool.take()]).toEqual(["a", "a", null]);
  });

  test("a server that is silent for 300 ms is out of turn; after a second nobody is there", () => {
    const pool = poolOf("a", "b");
    pass(pool, workerSilenceMsMax - busTickMs);
    pool.heard("b");
    pass(pool, 2 * busTickMs);
    expect([pool.take(), pool.take()]).toEqual(["b", "b"]);
    expect(pool.empty).toBe(false);
    pass(pool, busSilenceMsMax + busTickMs);
    expect({ empty: pool.empty, next: pool.take() }).toEqual({ empty: true, next: null });
  });

  test("a message goes again to another server than the first, be its share full, and to none where there is no other", () => {
    const pool = poolOf("a", "b");
    for (let message = 0; message < 4; message++) pool.take();
    expect(pool.take("a")).toBe("b");
    pool.left("b");
    expect(pool.take("a")).toBeNull();
  });

  test("an answer of a server that left meanwhile frees nothing", () => {
    const pool = poolOf("a");
    pool.take();
    pool.left("a");
    pool.replied("a");
    pool.late("a");
    expect({ empty: pool.empty, next: pool.take() }).toEqual({ empty: true, next: null });
  });
});
