/**
 * SQL of launch checks, one row for each model and provider with the latest check; of the operator's decisions about providers, as every
 * process reads them; and of route health, one row for each route entry and hour. Tallies are sums, so that counts of several gateways and hours can be added.
 */
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { routeHealthWindowMs } from "../limits.ts";
import type { ProviderDecision } from "./decisions.ts";

export interface CheckOutcome {
  model: string;
  provider: string;
  /** `Route.entry` at the time of the check, which counts only for that entry. */
  entry: string;
  passed: boolean;
  /** The gateway's error code if the check failed. */
  code: string | null;
}

export interface LaunchCheck extends CheckOutcome {
  /** Another check is requested; until it ends this result counts. */
  requested: boolean;
}

/** All checks, by the entry that they called. */
export async function readLaunchChecks(sql: Queries): Promise<Map<string, LaunchCheck>> {
  const rows = await sql<LaunchCheck[]>`
    SELECT model_id AS model, provider_id AS provider, entry, passed, code, asked_at IS NOT NULL AS requested FROM launch_checks`;
  return new Map(rows.map((row) => [row.entry, row]));
}

/** Stores the result of a check and clears its request. */
export async function recordLaunchCheck(sql: Queries, check: CheckOutcome): Promise<void> {
  await sql`
    INSERT INTO launch_checks (model_id, provider_id, entry, passed, code)
    VALUES (${check.model}, ${check.provider}, ${check.entry}, ${check.passed}, ${check.code})
    ON CONFLICT (model_id, provider_id) DO UPDATE
    SET entry = excluded.entry, passed = excluded.passed, code = excluded.code, at = now(), asked_at = NULL`;
}

/** Requests these checks from the prober, which also runs checks that have never run. */
export async function requestLaunchChecks(entries: string[], sql: Queries): Promise<void> {
  await sql`UPDATE launch_checks SET asked_at = now() WHERE entry = ANY(${entries}::text[])`;
}

// The operator's decisions

export async function readDecisions(sql: Queries): Promise<ProviderDecision[]> {
  return sql<ProviderDecision[]>`
    SELECT provider_id AS provider, encode(sealed, 'base64') AS sealed, terms_checked AS "termsChecked",
      subprocessor_listed AS "subprocessorListed", disabled,
      coalesce(tested IN ('refused', 'no_credit', 'other_region', 'not_served_here'), false) AS refused
    FROM service_providers ORDER BY provider_id`;
}

// Route health

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

/** The counts of one route, as sums, so that counts of several gateways and hours can be added. */
export interface Tally {
  answered: number;
  /** Answers that the provider did not give or broke off. */
  failed: number;
  /** Answers whose first token was timed, and the sum of those times. */
  timed: number;
  firstTokenMs: number;
}

/** Keyed by `Route.entry`. */
export type Tallies = Map<string, Tally>;
