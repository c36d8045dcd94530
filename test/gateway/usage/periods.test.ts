import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { blocksOf, periodsOf, instantOf, isTimeZone, localTime } from "../../../src/gateway/usage/periods.ts";
import { isoTime } from "../../../src/kernel/clock.ts";

const hoursOf = (from: string, to: string, zone: string) =>
  periodsOf({ fromMs: Date.parse(from), toMs: Date.parse(to), zone }, "hour").map(({ name, startMs }) => [
    name,
    isoTime(startMs).slice(11, 16),
  ]);

describe("the periods of usage", () => {
  test("hours begin where the zone's clocks show full ones, and the first with the span", () => {
    expect(hoursOf("2026-11-20T12:30Z", "2026-11-20T14:30Z", "Asia/Kathmandu")).toEqual([
      ["2026-11-20T18:15", "12:30"],
      ["2026-11-20T19:00", "13:15"],
      ["2026-11-20T20:00", "14:15"],
    ]);
  });

  test("a day of daylight saving has as many hours as pass", () => {
    expect(hoursOf("2026-11-01T04:00Z", "2026-11-02T05:00Z", "America/New_York")).toHaveLength(25);
    // Clocks go from 02:00 to 02:30.
    expect(hoursOf("2026-10-03T13:30Z", "2026-10-03T17:00Z", "Australia/Lord_Howe")).toEqual([
      ["2026-10-04T00:00", "13:30"],
      ["2026-10-04T01:00", "14:30"],
      ["2026-10-04T02:30", "15:30"],
      ["2026-10-04T03:00", "16:00"],
    ]);
  });

  test("blocks cover each quarter of their span once, by spans that begin at their multiples, and longer ones only where there are sums", () => {
    const quarter = fc.integer({ min: 0, max: 3_000 });
    fc.assert(
      fc.property(quarter, quarter, quarter, (from, length, summedBefore) => {
        const blocks = blocksOf({ from, to: from + length, summedBefore });
        const covered = blocks.flatMap(({ from: first, to }) => Array.from({ length: to - first }, (_, index) => first + index));
        expect(covered).toEqual(Array.from({ length }, (_, index) => from + index));
        for (const block of blocks) {
          expect([block.from % block.span, block.to % block.span]).toEqual([0, 0]);
          expect(block.span === 1 || block.to <= summedBefore).toBe(true);
        }
      }),
    );
  });
});

describe("time zones", () => {
  test.each([
    ["UTC", "2026-11-01T00:00", "2026-11-01T00:00:00.000Z"],
    ["Asia/Kathmandu", "2026-11-01T00:00", "2026-10-31T18:15:00.000Z"],
    // The last day of summer time, and the first one after it.
    ["America/New_York", "2026-11-01T00:00", "2026-11-01T04:00:00.000Z"],
    ["America/New_York", "2026-11-02T00:00", "2026-11-02T05:00:00.000Z"],
    ["Australia/Lord_Howe", "2026-10-04T00:00", "2026-10-03T13:30:00.000Z"],
    ["Australia/Lord_Howe", "2026-10-05T00:00", "2026-10-04T13:00:00.000Z"],
    // Clocks skip midnight there, from 24:00 to 01:00.
    ["America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00:00.000Z"],
    // Clocks show this hour twice.
    ["America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00.000Z"],
  ])("in %s clocks show %s at %s first", (zone, local, instant) => {
    expect(isoTime(instantOf(Date.parse(`${local}Z`), zone))).toBe(instant);
  });

  test("a clock of a zone shows the time of its offset, before and after the epoch's first day", () => {
    expect(isoTime(localTime(Date.parse("2026-11-20T12:00:00Z"), "Asia/Kathmandu"))).toBe("2026-11-20T17:45:00.000Z");
    expect(isoTime(localTime(0, "America/New_York"))).toBe("1969-12-31T19:00:00.000Z");
  });

  test.each(["", "Berlin", "+02:00", "Europe/Berlin ", "Etc/../UTC", "x".repeat(64)])("%j is no time zone", (zone) => {
    expect(isTimeZone(zone)).toBe(false);
  });
});
