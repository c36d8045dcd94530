import { expect, test } from "bun:test";
import { ChunkReader } from "../../../src/backing/nats/chunk-reader.ts";

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);
const three = Uint8Array.of(3);

test("chunks that came while the reader was busy are read in order, before those that it waits for, and then the end", async () => {
  const reader = new ChunkReader(() => {});
  for (const chunk of [one, two]) reader.push(chunk);
  const read: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of reader) read.push(chunk);
  })();
  setTimeout(() => {
    reader.push(three);
    reader.end();
  }, 1);
  await reading;
  expect(read).toEqual([one, two, three]);
});

test("what is forgotten is not read", async () => {
  const reader = new ChunkReader(() => {});
  reader.push(one);
  reader.forget();
  reader.end();
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test("where the reader fails, whoever feeds it is told, and nothing is kept any more", async () => {
  let left = 0;
  const reader = new ChunkReader(() => left++);
  reader.push(one);
  const failing = (async () => {
    for await (const _chunk of reader) throw new Error("unreadable");
  })();
  expect(await failing.catch(String)).toBe("Error: unreadable");
  reader.push(two);
  expect(left).toBe(1);
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});
