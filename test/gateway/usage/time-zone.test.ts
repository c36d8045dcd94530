import { describe, expect, test } from "bun:test";
import { instantOf, isTimeZone, localTime } from "../../../src/gateway/usage/time-zone.ts";
import { isoTime } from "../../../src/kernel/clock.ts";

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
