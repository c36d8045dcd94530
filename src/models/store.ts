/** SQL of launch checks: one row for each model and provider, the check that ran last. */
import type { Queries } from "../backing/backing.ts";

export interface LaunchCheck {
  model: string;
  provider: string;
  /** `Route.entry` as it was when the check ran; a check of another entry says nothing. */
  entry: string;
  passed: boolean;
  /** Our error code where it failed. */
  code: string | null;
}

/** All checks by the entry that they called: what availability asks. */
export async function readLaunchChecks(sql: Queries): Promise<Map<string, LaunchCheck>> {
  const rows = await sql<LaunchCheck[]>`
    SELECT model_id AS model, provider_id AS provider, entry, passed, code FROM launch_checks`;
  return new Map(rows.map((row) => [row.entry, row]));
}

/** Keeps the outcome of a check that just ran. */
export async function recordLaunchCheck(sql: Queries, check: LaunchCheck): Promise<void> {
  await sql`
    INSERT INTO launch_checks (model_id, provider_id, entry, passed, code)
    VALUES (${check.model}, ${check.provider}, ${check.entry}, ${check.passed}, ${check.code})
    ON CONFLICT (model_id, provider_id) DO UPDATE
    SET entry = excluded.entry, passed = excluded.passed, code = excluded.code, at = now()`;
}
