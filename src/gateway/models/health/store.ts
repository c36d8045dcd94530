/** SQL of route health: one row for each route entry and hour. */
import type { Queries } from "../../../backing/backing.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { routeHealthWindowMs } from "../../limits.ts";
import type { Tallies, Tally } from "./tally.ts";

const hourMs = 3_600_000;

/** Adds counts to this hour and deletes hours that no longer count. Rows are locked in the order of their entries. */
export async function addTallies({ tallies, nowMs }: { tallies: Tallies; nowMs: number }, sql: Queries): Promise<void> {
  const entries = [...tallies.keys()].toSorted();
  const column = (name: keyof Tally): number[] => entries.map((entry) => tallies.get(entry)?.[name] ?? 0);
  await sql`
    INSERT INTO route_hours (entry, hour, answered, failed, timed, first_token_ms)
    SELECT entry, ${isoTime(nowMs - (nowMs % hourMs))}, answered, failed, timed, first_token_ms FROM unnest(
      ${entries}::text[], ${column("answered")}::bigint[], ${column("failed")}::bigint[],
      ${column("timed")}::bigint[], ${column("firstTokenMs")}::bigint[]) AS added (entry, answered, failed, timed, first_token_ms)
    ON CONFLICT (entry, hour) DO UPDATE SET
      answered = route_hours.answered + excluded.answered, failed = route_hours.failed + excluded.failed,
      timed = route_hours.timed + excluded.timed, first_token_ms = route_hours.first_token_ms + excluded.first_token_ms`;
  await sql`DELETE FROM route_hours WHERE hour <= ${isoTime(nowMs - routeHealthWindowMs - hourMs)}`;
}

/** Counts of all gateways within the window, including the whole of its first hour. */
export async function readTallies(nowMs: number, sql: Queries): Promise<Tallies> {
  const rows = await sql<(Tally & { entry: string })[]>`
    SELECT entry, sum(answered)::float8 AS answered, sum(failed)::float8 AS failed, sum(timed)::float8 AS timed,
      sum(first_token_ms)::float8 AS "firstTokenMs"
    FROM route_hours WHERE hour > ${isoTime(nowMs - routeHealthWindowMs - hourMs)} GROUP BY entry`;
  return new Map(rows.map(({ entry, ...tally }) => [entry, tally]));
}
