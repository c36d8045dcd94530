/** Requests without a key leave the event loop to others. */
import { expect, test } from "bun:test";
import { DocumentCache, Renderings } from "../../../src/connectors/catalog/catalog-cache.ts";
import { documentOf, type Document } from "../../../src/http/document.ts";
import { renderingsWaitingMax } from "../../../src/connectors/limits.ts";
import { memoizeFor } from "../../../src/process/memoize-for.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { until } from "../../support/until.ts";

/** A page that takes 10 ms of the clock. */
const page = (clock: ManualClock, made: number[]) => async (): Promise<Document> => {
  clock.advance(10);
  made.push(clock.monotonic());
  return documentOf("page", "text/html");
};

/** Pages as the catalog makes and caches them. */
function keptBy(clock: ManualClock): DocumentCache["get"] {
  const kept = new DocumentCache(1_000_000);
  const renderings = new Renderings(clock);
  return (key, make) => kept.get(key, () => renderings.run(make));
}

test("pages are made one after another, and the queue rests twice as long as each took", async () => {
  const clock = new ManualClock();
  const made: number[] = [];
  const get = keptBy(clock);
  const start = clock.monotonic();
  const both = ["a", "b"].map((key) => get(key, page(clock, made)));
  await both[0];
  await until(() => clock.pending === 1);
  expect(made.map((at) => at - start)).toEqual([10]);
  clock.advance(19);
  expect(made).toHaveLength(1);
  clock.advance(1);
  await both[1];
  expect(made.map((at) => at - start)).toEqual([10, 40]);
  await get("a", page(clock, made));
  expect(made).toHaveLength(2);
});

test("uncached pages beyond the queue's limit are refused with 503, and cached pages are served", async () => {
  const clock = new ManualClock();
  const made: number[] = [];
  const get = keptBy(clock);
  await get("kept", page(clock, made));
  const waiting = Array.from({ length: renderingsWaitingMax }, (_, number) => get(`page ${number}`, page(clock, made)));
  const refused = await failureOf((async () => get("one more", page(clock, made)))());
  expect(refused).toMatchObject({ status: 503, retryAfterMs: 1_000 });
  expect(made).toHaveLength(1);
  const first = waiting[0];
  await until(() => clock.pending === 1);
  clock.advance(20);
  await first;
});

test("a cache of documents holds no more bytes than its limit, and evicts the least recently used ones", async () => {
  const made: string[] = [];
  const make = (name: string, bytes: number) => async (): Promise<Document> => {
    made.push(name);
    const representation = { bytes: new Uint8Array(bytes / 2), etag: name };
    return { contentType: "text/plain", plain: representation, gzip: representation };
  };
  const kept = new DocumentCache(100);
  const get = (name: string, bytes: number) => kept.get(name, make(name, bytes));
  for (const name of ["a", "b", "a"]) await get(name, 40);
  await get("c", 40);
  await get("a", 40);
  expect(made).toEqual(["a", "b", "c"]);
  await get("b", 40);
  expect(made).toEqual(["a", "b", "c", "b"]);
  await get("larger than all", 400);
  await get("larger than all", 400);
  expect(made).toHaveLength(5);
});

test("an expensive answer is computed once a second, however many requests arrive", async () => {
  const clock = new ManualClock();
  let found = 0;
  const find = memoizeFor(1_000, clock, async () => ++found);
  expect(await Promise.all([find(), find(), find()])).toEqual([1, 1, 1]);
  clock.advance(999);
  expect(await find()).toBe(1);
  clock.advance(1);
  expect(await find()).toBe(2);
});

test("a failed computation is retried at the next request", async () => {
  let tries = 0;
  const find = memoizeFor(1_000, new ManualClock(), async () => {
    if (++tries === 1) throw new Error("Away");
    return tries;
  });
  await failureOf(find());
  expect(await find()).toBe(2);
});
