/** SQL of launch checks: one row for each model and provider, the check that ran last. */
import type { Queries } from "../../backing/backing.ts";

export interface CheckOutcome {
  model: string;
  provider: string;
  /** `Route.entry` as it was when the check ran; a check of another entry says nothing. */
  entry: string;
  passed: boolean;
  /** Our error code where it failed. */
  code: string | null;
}

export interface LaunchCheck extends CheckOutcome {
  /** It is to run again; until then its outcome stands. */
  requested: boolean;
}

/** All checks by the entry that they called: what availability asks. */
export async function readLaunchChecks(sql: Queries): Promise<Map<string, LaunchCheck>> {
  const rows = await sql<LaunchCheck[]>`
    SELECT model_id AS model, provider_id AS provider, entry, passed, code, asked_at IS NOT NULL AS requested FROM launch_checks`;
  return new Map(rows.map((row) => [row.entry, row]));
}

/** Keeps the outcome of a check that just ran: it is asked for no longer. */
export async function recordLaunchCheck(sql: Queries, check: CheckOutcome): Promise<void> {
  await sql`
    INSERT INTO launch_checks (model_id, provider_id, entry, passed, code)
    VALUES (${check.model}, ${check.provider}, ${check.entry}, ${check.passed}, ${check.code})
    ON CONFLICT (model_id, provider_id) DO UPDATE
    SET entry = excluded.entry, passed = excluded.passed, code = excluded.code, at = now(), asked_at = NULL`;
}

/** Has the prober run these checks again. One that has never run is run in any case. */
export async function requestLaunchChecks(entries: string[], sql: Queries): Promise<void> {
  await sql`UPDATE launch_checks SET asked_at = now() WHERE entry = ANY(${entries}::text[])`;
}
