import type { Queries } from "./backing.ts";

/** @throws when the database does not answer */
export async function ping(sql: Queries): Promise<void> {
  await sql`SELECT 1`;
}
