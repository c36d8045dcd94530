/** SQL of launch checks: one row for each model and provider, with the latest check. */
import type { Queries } from "../../backing/backing.ts";

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
