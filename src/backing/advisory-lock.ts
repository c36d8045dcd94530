/** Work that one process of a fleet does at a time: a lock of PostgreSQL, which ends with the connection of a process that dies. */
import type { Database } from "./backing.ts";

/**
 * On a connection of its own for as long as it is held.
 * @param name such as "weir prober"
 * @returns null when another process holds it
 */
export async function tryAdvisoryLock(name: string, sql: Database): Promise<AsyncDisposable | null> {
  const connection = await sql.reserve();
  const [row] = await connection<{ locked: boolean }[]>`SELECT pg_try_advisory_lock(hashtext(${name})) AS locked`;
  if (!row?.locked) {
    connection.release();
    return null;
  }
  return {
    async [Symbol.asyncDispose]() {
      await connection`SELECT pg_advisory_unlock(hashtext(${name}))`;
      connection.release();
    },
  };
}
