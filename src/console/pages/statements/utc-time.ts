import { day } from "../../look/time.ts";

/** A statement's times are those of UTC, and with the year, in every browser and on paper. @param at ISO 8601 with Z */
export function utcTime(at: string): string {
  return `${day(at)}, ${at.slice(11, 19)} UTC`;
}
