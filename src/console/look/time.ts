/** Times of the log and of accounts. The script shows them in the browser's zone, and a year only if it is not the present one; the title keeps UTC and the year. */
import { markup, type Html } from "../../http/html.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** @param at ISO 8601 with Z; null gives `never` */
export function time(at: string | null, { never = "never", seconds = false } = {}): Html {
  if (at === null) return markup`<span class="none">${never}</span>`;
  const clock = at.slice(11, seconds ? 19 : 16);
  return markup`<time datetime="${at}" title="${at.slice(0, 10)} ${at.slice(11, 19)} UTC" data-local="${seconds ? "seconds" : "minutes"}">${day(at)}, ${clock} UTC</time>`;
}

/** A day of the calendar, the same in every zone: `24 Nov 2026`. @param date begins with YYYY-MM-DD */
export function day(date: string): string {
  return `${shortDay(date)} ${date.slice(0, 4)}`;
}

/** `24 Nov` */
export function shortDay(date: string): string {
  return `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1] ?? ""}`;
}
