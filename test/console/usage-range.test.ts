/** The ranges of charts in addresses, by the clocks of zones. */
import { expect, test } from "bun:test";
import { usageRange } from "../../src/console/pages/inference/usage-range.ts";

const nowMs = Date.parse("2026-11-20T12:34:56.789Z");
interface Asked {
  at?: number;
  usual?: "30d" | "month";
  /** Of the person. */
  zone?: string;
}
const rangeOf = (query: string, { at = nowMs, usual = "month", zone = "UTC" }: Asked = {}) =>
  usageRange({ query: new URLSearchParams(query), nowMs: at, viewer: { zone } }, usual);
const span = ({ from, to }: { from: string; to: string }): string[] => [from, to].map((at) => at.replace(":00.000Z", "Z"));

test.each([
  ["", "in November 2026", "2026-11-01T00:00Z", "2026-12-01T00:00Z"],
  ["month=2026-02", "in February 2026", "2026-02-01T00:00Z", "2026-03-01T00:00Z"],
  ["range=24h", "in the last 24 hours", "2026-11-19T13:00Z", "2026-11-20T13:00Z"],
  ["range=24h&tz=Asia/Kathmandu", "in the last 24 hours", "2026-11-19T13:15Z", "2026-11-20T13:15Z"],
  ["range=7d", "in the last 7 days", "2026-11-14T00:00Z", "2026-11-21T00:00Z"],
  ["range=30d&tz=America/New_York", "in the last 30 days", "2026-10-22T04:00Z", "2026-11-21T05:00Z"],
  ["range=month&month=2026-10&tz=Europe/Berlin", "in October 2026", "2026-09-30T22:00Z", "2026-10-31T23:00Z"],
  ["from=2026-10-24&to=2026-10-25&tz=Europe/Berlin", "from 24 Oct 2026 to 25 Oct 2026", "2026-10-23T22:00Z", "2026-10-25T23:00Z"],
  ["from=2026-11-20", "on 20 Nov 2026", "2026-11-20T00:00Z", "2026-11-21T00:00Z"],
  ["range=custom&from=&to=", "in November 2026", "2026-11-01T00:00Z", "2026-12-01T00:00Z"],
  ["range=year", "in November 2026", "2026-11-01T00:00Z", "2026-12-01T00:00Z"],
])("%s is %s", (query, words, from, to) => {
  const range = rangeOf(query);
  expect([range.words, ...span(range), range.problem]).toEqual([words, from, to, null]);
});

test("without a zone in the address, days are the person's", () => {
  const zone = "America/New_York";
  expect(span(rangeOf("range=7d", { zone }))).toEqual(["2026-11-14T05:00Z", "2026-11-21T05:00Z"]);
  expect(span(rangeOf("range=7d&tz=UTC", { zone }))).toEqual(["2026-11-14T00:00Z", "2026-11-21T00:00Z"]);
});

test("an hour that begins now is the last of 24", () => {
  expect(span(rangeOf("range=24h", { at: Date.parse("2026-11-20T12:00:00.000Z") }))).toEqual([
    "2026-11-19T13:00Z",
    "2026-11-20T13:00Z",
  ]);
});

test.each([
  "from=2026-02-30",
  "from=2026-1-1",
  "from=today",
  "from=2026-11-20&to=2026-11-19",
  "from=2025-01-01&to=2026-11-20",
  "from=1969-01-01",
])("%s is no range: the page says so and shows the usual one", (query) => {
  const range = rangeOf(query, { usual: "30d" });
  expect([range.kind, String(range.problem).includes("Those days cannot be shown")]).toEqual(["30d", true]);
});

test("400 days are a range, and the next one is too many", () => {
  expect(rangeOf("from=2025-10-17&to=2026-11-20").problem).toBeNull();
  expect(rangeOf("from=2025-10-16&to=2026-11-20").problem).not.toBeNull();
});
