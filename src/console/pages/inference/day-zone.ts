/**
 * The time zone of a page's days: that of its address, or the one that the person chose. A script offers the browser's zone; without it,
 * the account page has all of them. If the zone does not exist, the page says so and shows UTC.
 */
import { instantOf, isTimeZone, localTime } from "../../../gateway/usage/periods.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { Month } from "../../../kernel/clock.ts";
import { address } from "../../look/forms.ts";
import { notice } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import { zoneButton } from "../../time-zone.ts";
import type { Viewer } from "../../viewer.ts";

interface DayZone {
  /** An IANA name. */
  zone: string;
  /** Says that the zone in the address is unknown, and which days are shown instead; null: the zone is valid. */
  problem: Html | null;
}

export function dayZone({ query, viewer }: Pick<PageCall, "query"> & { viewer: Pick<Viewer, "zone"> }): DayZone {
  const named = (query.get("tz") ?? "").trim() || viewer.zone;
  if (named === "UTC") return { zone: "UTC", problem: null };
  if (isTimeZone(named)) return { zone: named, problem: null };
  const words = `There is no time zone “${named.slice(0, 64)}”: days begin at 00:00 UTC. Use a name such as Europe/Berlin.`;
  return { zone: "UTC", problem: notice({ tone: "bad", words }) };
}

/** Shows the offer of `zoneOffer`. */
export const zoneScript = asset("script", [new URL("day-zone.js", import.meta.url)]);

/** Says which zone the days are in, with buttons for UTC and, by a script, for the browser's zone. */
export function zoneOffer({ path, query, viewer }: Pick<PageCall, "path" | "query" | "viewer">, zone: string): Html {
  const { tz, before: _cursor, ...kept } = Object.fromEntries(query);
  const own = markup`<a href="${address(path, kept)}">Show those of ${viewer.zone}</a>`;
  const utc = zone === "UTC" ? null : zoneButton("UTC");
  return markup`<div class="zone-choice"><p>Days begin at 00:00 in ${zone}.</p>${tz === undefined || viewer.zone === zone ? null : own}${utc}<div data-zone-offer="${zone}" hidden>${zoneButton("UTC")}</div></div>`;
}

/** The zone in the address, which a filter keeps. */
export function keptZone({ query }: Pick<PageCall, "query">): Record<string, string> {
  const named = (query.get("tz") ?? "").trim();
  return named === "" ? {} : { tz: named };
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
