/** A primary of PostgreSQL with a streaming standby, which tests may kill, promote and hold back. */
import { spawnSync } from "node:child_process";
import { appendFile, chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { Program } from "../../../scripts/services/program.ts";
import { startPostgres, serverUser } from "../../../scripts/services/postgres.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { until } from "../until.ts";

export interface PostgresPair extends AsyncDisposable {
  primary: Server;
  standby: Server;
  /** The address of both, the standby first, so that whoever takes the first one is wrong. */
  url: string;
  /** Makes the standby take writes. It has what it received by then. */
  promote(): Promise<void>;
  /** Resolves when the standby has what the primary has now. */
  caughtUp(): Promise<void>;
}

/** Replication is asynchronous: what the primary commits just before it dies may be lost. */
export async function startPostgresPair({ program, folder }: { program: Program; folder: string }): Promise<PostgresPair> {
  await using stack = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const [first, second] = [join(folder, "primary"), join(folder, "standby")];
  const primary = stack.use(await startPostgres({ program, folder: first }));
  await primary.stop();
  await copyServer(first, second);
  const source = new URL(primary.url);
  const login = `host=127.0.0.1 port=${source.port} user=${source.username} password=${source.password}`;
  const settings = `primary_conninfo = '${login}'\nwal_receiver_status_interval = 1\nwal_retrieve_retry_interval = 100\n`;
  await appendFile(join(second, "data", "postgresql.auto.conf"), settings);
  await writeFile(join(second, "data", "standby.signal"), "");
  own(second);
  await primary.restart();
  const standby = stack.use(await startPostgres({ program, folder: second }));
  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const kept = stack.move();
  return {
    primary,
    standby,
    url: primary.url.replace(/127\.0\.0\.1:\d+/, hosts),
    promote: () => ask(standby, (sql) => sql`SELECT pg_promote()`),
    async caughtUp() {
      await ask(primary, async (sql) => {
        const [now] = await sql<{ lsn: string }[]>`SELECT pg_current_wal_lsn()::text AS lsn`;
        await until(async () => {
          const [row] = await sql`SELECT FROM pg_stat_replication WHERE replay_lsn >= ${now?.lsn ?? ""}::pg_lsn`;
          return row !== undefined;
        });
      });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function copyServer(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true });
  await rm(join(to, "data", "postmaster.pid"), { force: true });
}

/** The copy belongs to the user of the server, as the original does. */
function own(folder: string): void {
  const user = serverUser();
  if (user === null) return;
  const { status, stderr } = spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot give "${folder}" to its server: ${stderr}`);
}

async function ask(server: Server, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
