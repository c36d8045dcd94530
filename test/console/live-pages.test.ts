/** What pages that refresh themselves may cost: how often they ask, and how much of the time they render. */
import { describe, expect, test } from "bun:test";
import { memberLane } from "../../src/accounts/quotas/lane.ts";
import { livePollsPerMinuteMax, livePollsPerPersonMax } from "../../src/console/limits.ts";
import { LivePages } from "../../src/console/live-pages.ts";
import type { Page } from "../../src/console/page.ts";
import { ManualClock } from "../support/clock.ts";
import { failureOf } from "../support/failure-of.ts";

const page = { changes: async () => "1" } as unknown as Page;
const ann = memberLane("ann@acme", "acme");
const ben = memberLane("ben@acme", "acme");
const question = new Request("http://localhost/console/w/acme", { headers: { "if-none-match": '"1"' } });

function poll(live: LivePages, lane = ann) {
  const asked = live.pollOf(page, question, lane);
  if (asked === null) throw new Error("It is no question");
  return asked;
}

describe("a question", () => {
  test("is a page that is asked for with the tag of the shown one, and only of a page that refreshes itself", () => {
    const live = new LivePages(new ManualClock());
    expect(poll(live).tag).toBe('"1"');
    expect(live.pollOf(page, new Request("http://localhost/console"), ann)).toBeNull();
    expect(live.pollOf({} as unknown as Page, question, ann)).toBeNull();
  });

  test("comes from one person so many times a minute, whoever else asks", () => {
    const live = new LivePages(new ManualClock());
    for (let count = 0; count < livePollsPerMinuteMax; count++) poll(live);
    expect(() => poll(live)).toThrow("Too many calls for the live pages of one person");
    expect(poll(live, ben).tag).toBe('"1"');
  });

  test("waits for no other, and so many of one person are open at once", async () => {
    const live = new LivePages(new ManualClock());
    const turns = await Promise.all(Array.from({ length: livePollsPerPersonMax }, () => live.take(ann)));
    expect(await failureOf(live.take(ann))).toMatchObject({ status: 429 });
    using _others = await live.take(ben);
    turns[0]?.[Symbol.dispose]();
    using _again = await live.take(ann);
  });
});

describe("the renderings together", () => {
  /** Renders for 20 ms of the clock, and notes when. */
  function rendering(clock: ManualClock, at: number[]) {
    return async () => {
      at.push(clock.monotonic());
      clock.advance(20);
    };
  }

  test("take a tenth of the time: the next one waits nine times as long as one took", async () => {
    const clock = new ManualClock();
    const live = new LivePages(clock);
    const at: number[] = [];
    await poll(live).inTurn(rendering(clock, at));
    const second = poll(live, ben).inTurn(rendering(clock, at));
    await clock.pass(179);
    expect(at).toEqual([0]);
    await clock.pass(1);
    await second;
    expect(at).toEqual([0, 200]);
  });

  test("go by person in turn, and one that waits too long is told to ask later", async () => {
    const clock = new ManualClock();
    const live = new LivePages(clock);
    const served: string[] = [];
    const serve = (name: string, lane: typeof ann) =>
      poll(live, lane).inTurn(async () => {
        served.push(name);
        clock.advance(1);
      });
    await serve("first", ann);
    const all = Promise.all([serve("ann 1", ann), serve("ann 2", ann), serve("ben 1", ben)]);
    await clock.pass(60);
    await all;
    expect(served).toEqual(["first", "ann 1", "ben 1", "ann 2"]);
    const stuck = Promise.withResolvers<undefined>();
    const long = poll(live, ben).inTurn(() => stuck.promise);
    const late = failureOf(poll(live).inTurn(async () => undefined));
    await clock.pass(10_000);
    expect(await late).toMatchObject({ status: 503 });
    stuck.resolve(undefined);
    await long;
  });

  test("leave the turn of one that fails", async () => {
    const clock = new ManualClock();
    const live = new LivePages(clock);
    expect(await failureOf(poll(live).inTurn(() => Promise.reject(new Error("no"))))).toMatchObject({ message: "no" });
    expect(await poll(live).inTurn(async () => "yes")).toBe("yes");
  });
});
