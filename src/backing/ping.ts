import type { Queries } from "./backing.ts";

/** Whether the database answers at all. @throws when it does not */
export async function ping(sql: Queries): Promise<void> {
  await sql`SELECT 1`;
}
