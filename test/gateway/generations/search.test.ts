import { expect, test } from "bun:test";
import { searchLog, type SoughtRow } from "../../../src/gateway/generations/generations.ts";
import { logSearchRowsMax } from "../../../src/gateway/limits.ts";

const idOf = (number: number): string => `gen-${String(number).padStart(26, "0")}`;

/** A log with this many requests, of which every thousandth failed. */
function logOf(count: number) {
  const reads: number[] = [];
  const read = async ({ before, limit }: { before: string | null; limit: number }): Promise<SoughtRow[]> => {
    reads.push(limit);
    const newest = before === null ? count : Number(before.slice(4));
    const numbers = Array.from({ length: Math.min(limit, newest) }, (_, index) => newest - 1 - index);
    return numbers.map((number) => ({
      generation: idOf(number),
      model: number % 1_000 === 1 ? "acme/rare" : "acme/usual",
      endpoint: number % 1_000 === 2 ? "responses" : null,
      provider: number % 1_000 === 3 ? "rare" : "usual",
      status: number % 1_000 === 0 ? 500 : 200,
      code: null,
    }));
  };
  return { read, reads };
}

const page = { before: null, model: null, fromMs: null, toMs: null, limit: 50 };
const failures = { status: "error", code: null, endpoint: null, provider: null, model: null } as const;

test("a search for rare failures reads a bounded part of the log, and goes on where it ended", async () => {
  const { read, reads } = logOf(25_000);
  const found = await searchLog({ page, sought: failures, parts: 1 }, read);
  expect(found.searched).toBeGreaterThanOrEqual(logSearchRowsMax);
  expect(found.searched).toBeLessThan(logSearchRowsMax + 1_000);
  expect(Math.max(...reads)).toBe(1_000);
  const ids = [...found.generations];
  for (let { next } = found; next !== null;) {
    const more = await searchLog({ page: { ...page, before: next }, sought: failures, parts: 1 }, read);
    ids.push(...more.generations);
    next = more.next;
  }
  expect(ids).toEqual(Array.from({ length: 25 }, (_, index) => idOf(24_000 - index * 1_000)));
});

test("a search over many keys reads few rows of each at a time", async () => {
  const { read, reads } = logOf(5_000);
  const found = await searchLog({ page, sought: failures, parts: 200 }, read);
  expect([Math.max(...reads), reads.length, found.searched]).toEqual([100, 16, 1_600]);
});

test("a page that most requests match takes one read", async () => {
  const { read, reads } = logOf(5_000);
  const found = await searchLog(
    { page, sought: { status: "ok", code: null, endpoint: null, provider: null, model: null }, parts: 1 },
    read,
  );
  expect([found.generations.length, found.next, reads]).toEqual([50, idOf(4_950), [100]]);
});

test("a search for a rare model among the requests of a key reads a bounded part of them", async () => {
  const { read } = logOf(25_000);
  const found = await searchLog(
    { page, sought: { status: null, code: null, endpoint: null, provider: null, model: "acme/rare" }, parts: 1 },
    read,
  );
  expect(found.searched).toBeLessThan(logSearchRowsMax + 1_000);
  expect(found.generations.slice(0, 2)).toEqual([idOf(24_001), idOf(23_001)]);
});

test("a search by endpoint takes requests without one as those of chat", async () => {
  const { read } = logOf(5_000);
  const sought = (endpoint: "chat" | "responses") => ({ status: null, code: null, provider: null, model: null, endpoint });
  const responses = await searchLog({ page, sought: sought("responses"), parts: 1 }, read);
  expect(responses.generations.slice(0, 2)).toEqual([idOf(4_002), idOf(3_002)]);
  const chats = await searchLog({ page: { ...page, limit: 3 }, sought: sought("chat"), parts: 1 }, read);
  expect(chats.generations).toEqual([idOf(4_999), idOf(4_998), idOf(4_997)]);
});

test("a search by provider takes the requests that it answered", async () => {
  const { read } = logOf(25_000);
  const sought = { status: null, code: null, endpoint: null, model: null, provider: "rare" };
  const found = await searchLog({ page, sought, parts: 1 }, read);
  expect(found.generations.slice(0, 2)).toEqual([idOf(24_003), idOf(23_003)]);
  expect(found.searched).toBeLessThan(logSearchRowsMax + 1_000);
});
