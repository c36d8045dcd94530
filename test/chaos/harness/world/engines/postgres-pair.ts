/**
 * A primary of PostgreSQL and its synchronous standby. When the primary dies, the standby is promoted, and a new standby takes the
 * place of the dead one: what a failover manager does elsewhere.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { Program } from "../../../../../scripts/services/program.ts";
import { serverUser } from "../../../../../scripts/services/postgres.ts";
import type { Server } from "../../../../../scripts/services/server.ts";
import { startPostgresPair, type PostgresPair } from "../../../../support/clusters/postgres-pair.ts";
import { until } from "../../../../support/until.ts";
import { signalTree } from "../../faults/process-tree.ts";
import { frozen, healedNow, pause, type Healed } from "./engine.ts";
import type { PostgresEngine } from "./postgres-engine.ts";

const promotedMsMax = 20_000;
const joinedMsMax = 60_000;
/** The primary keeps what a new standby needs while its data are copied. */
const walKept = "1GB";

interface Place {
  server: Server;
  folder: string;
}

export class PrimaryAndStandby implements PostgresEngine {
  readonly targets = ["postgres-primary", "postgres-standby"];
  readonly isolated = [];
  readonly #pair: PostgresPair;
  #primary: Place;
  #standby: Place;

  private constructor(pair: PostgresPair, folder: string) {
    this.#pair = pair;
    this.#primary = { server: pair.primary, folder: join(folder, "primary", "data") };
    this.#standby = { server: pair.standby, folder: join(folder, "standby", "data") };
  }

  static async start(program: Program, folder: string): Promise<PrimaryAndStandby> {
    const engine = new PrimaryAndStandby(await startPostgresPair({ program, folder }), folder);
    await engine.#waitForStandby();
    return engine;
  }

  get url(): string {
    return `${this.#pair.url}?target_session_attrs=read-write`;
  }

  primaryUrl(): string {
    return this.#primary.server.url;
  }

  /** Kills all processes of a primary at once: it must not run on next to its successor. */
  async kill(target: string): Promise<Healed> {
    const isPrimary = target === "postgres-primary";
    const { server } = isPrimary ? this.#primary : this.#standby;
    signalTree(server.pid, "SIGKILL");
    await server.kill("SIGKILL");
    if (!isPrimary) {
      await server.restart();
      await this.#waitForStandby();
      return healedNow();
    }
    await this.#promote();
    return { at: Date.now(), whole: this.#renewStandby() };
  }

  /** No standby is promoted: if the primary woke next to a promoted one, there would be two ledgers. */
  async freeze(target: string, ms: number): Promise<Healed> {
    const { server } = target === "postgres-primary" ? this.#primary : this.#standby;
    await frozen(server, () => pause(ms));
    return healedNow();
  }

  isolate(target: string): Promise<Healed> {
    throw new Error(`There is nothing that fences ${target}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pair[Symbol.asyncDispose]();
  }

  /** Until there is a standby again, the new primary waits for none. */
  async #promote(): Promise<void> {
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
    await ask(this.#primary.server, (sql) => sql`SELECT pg_promote(false)`);
    await until(async () => {
      const [row] = await ask(
        this.#primary.server,
        (sql) => sql<{ takesWrites: boolean }[]>`SELECT NOT pg_is_in_recovery() AS "takesWrites"`,
      );
      return row?.takesWrites === true;
    }, promotedMsMax);
  }

  /** Replaces the data of the dead server with a copy of the primary's, and follows it. */
  async #renewStandby(): Promise<void> {
    const { server, folder } = this.#standby;
    await rm(folder, { recursive: true, force: true });
    await ask(this.#primary.server, (sql) => sql.unsafe(`ALTER SYSTEM SET wal_keep_size = '${walKept}'`));
    await ask(this.#primary.server, async (sql) => {
      await sql`SELECT pg_reload_conf()`;
      await sql`SELECT pg_backup_start('standby', true)`;
      await copyData(this.#primary.folder, folder);
      const [backup] = await sql<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`;
      await writeFile(join(folder, "backup_label"), backup?.labelfile ?? "");
    });
    const source = new URL(this.primaryUrl());
    const login = `host=127.0.0.1 port=${source.port} user=${source.username} password=${source.password}`;
    const settings = { primary_conninfo: login, wal_retrieve_retry_interval: "100", synchronous_standby_names: "" };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    await writeFile(join(folder, "postgresql.auto.conf"), lines.join(""));
    await writeFile(join(folder, "standby.signal"), "");
    await own(folder);
    await server.restart();
    await this.#waitForStandby();
  }

  /** From here on a commit is acknowledged once the standby has it. */
  async #waitForStandby(): Promise<void> {
    const { server } = this.#primary;
    await ask(server, (sql) => sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = '*'"));
    await ask(server, (sql) => sql`SELECT pg_reload_conf()`);
    await until(async () => {
      const rows = await ask(
        server,
        (sql) => sql`SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'`,
      );
      return rows.length > 0;
    }, joinedMsMax);
  }
}

/** While the server writes, so files may vanish meanwhile. Its log of changes comes over the network afterwards. */
async function copyData(from: string, to: string): Promise<void> {
  const without = ["postmaster.pid", "postmaster.opts", "pg_wal/*", "pg_replslot/*", "pg_stat_tmp/*"].map(
    (path) => `--exclude=./${path}`,
  );
  spawnSync("mkdir", ["-p", "-m", "700", to]);
  const copying = spawn(
    "sh",
    ["-c", `tar -C "$0" -cf - ${without.map((one) => `'${one}'`).join(" ")} . | tar -C "$1" -xpf -`, from, to],
    { stdio: "ignore" },
  );
  await once(copying, "exit");
  spawnSync("mkdir", ["-p", join(to, "pg_wal", "archive_status")]);
}

/** The copy belongs to the user of the server, as the original does. */
async function own(folder: string): Promise<void> {
  const user = serverUser();
  if (user !== null) spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, folder]);
}

async function ask<T>(server: Server, work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(server.url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
