/**
 * The time zone of a page's days: UTC, or the one in its address. A script offers the browser's zone; without the script days are in UTC.
 * If the zone does not exist, the page says so and shows UTC.
 */
import { instantOf, isTimeZone, localTime } from "../../../gateway/usage/periods.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { Month } from "../../../kernel/clock.ts";
import { address } from "../../look/forms.ts";
import { notice } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";

interface DayZone {
  /** An IANA name. */
  zone: string;
  /** Says that the zone in the address is unknown, and which days are shown instead; null: the zone is valid. */
  problem: Html | null;
}

export function dayZone({ query }: Pick<PageCall, "query">): DayZone {
  const named = query.get("tz")?.trim() ?? "";
  if (named === "" || named === "UTC") return { zone: "UTC", problem: null };
  if (isTimeZone(named)) return { zone: named, problem: null };
  const words = `There is no time zone “${named.slice(0, 64)}”: days begin at 00:00 UTC. Use a name such as Europe/Berlin.`;
  return { zone: "UTC", problem: notice({ tone: "bad", words }) };
}

/** Shows the offer of `zoneOffer`. */
export const zoneScript = asset("script", [new URL("day-zone.js", import.meta.url)]);

/** Says which zone the days are in. A script shows the link to the browser's zone. */
export function zoneOffer({ path, query }: Pick<PageCall, "path" | "query">, zone: string): Html {
  const { tz: _zone, before: _cursor, ...kept } = Object.fromEntries(query);
  const toUtc = zone === "UTC" ? null : markup` <a href="${address(path, kept)}">Show those of UTC</a>`;
  return markup`<p class="under">Days begin at 00:00 in ${zone}.${toUtc} <a data-zone-offer="${zone}" href="${address(path, { ...kept, tz: "UTC" })}" hidden>Show those of your time zone</a></p>`;
}

/** YYYY-MM-DD, as clocks in the zone show it. */
export function dayAt(ms: number, zone: string): string {
  return new Date(localTime(ms, zone)).toISOString().slice(0, 10);
}

/** When a day begins in the zone, in milliseconds. @param date YYYY-MM-DD @param days this many days later */
export function dayStartOf(date: string, { zone, days = 0 }: { zone: string; days?: number }): number {
  return instantOf(Date.parse(date) + days * 86_400_000, zone);
}

const names = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `November 2026` */
export function monthName(month: Month): string {
  return `${names[Number(month.slice(5, 7)) - 1] ?? ""} ${month.slice(0, 4)}`;
}
