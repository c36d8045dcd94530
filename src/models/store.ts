/** SQL of launch checks: one row for each model and provider, the check that ran last. */
import type { Database, Queries } from "../backing/backing.ts";

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

/**
 * The prober's lock of the whole fleet, on a connection of its own for as long as it is held.
 * @returns null when another process holds it
 */
export async function takeProberLock(sql: Database): Promise<AsyncDisposable | null> {
  const connection = await sql.reserve();
  const [row] = await connection<{ locked: boolean }[]>`SELECT pg_try_advisory_lock(hashtext('weir prober')) AS locked`;
  if (!row?.locked) {
    connection.release();
    return null;
  }
  return {
    async [Symbol.asyncDispose]() {
      await connection`SELECT pg_advisory_unlock(hashtext('weir prober'))`;
      connection.release();
    },
  };
}
