/** Databases with the schema in them: the embedded one always, a PostgreSQL of this machine where it is installed. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { PGlite } from "@electric-sql/pglite";
import postgres from "postgres";
import type { Database } from "../../src/backing/backing.ts";

export interface TestDatabase extends AsyncDisposable {
  sql: Database;
}

const migrations = join(import.meta.dir, "../../src/backing/migrations");

async function migrate(sql: Database): Promise<void> {
  for (const file of readdirSync(migrations).toSorted()) await sql.unsafe(readFileSync(join(migrations, file), "utf8")).simple();
}

async function openEmbedded(): Promise<TestDatabase> {
  const lite = await PGlite.create();
  const socket = () => {
    const duplex = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        lite.execProtocolRaw(new Uint8Array(chunk)).then((answer) => {
          duplex.push(Buffer.from(answer));
          done();
        }, done);
      },
    });
    return duplex;
  };
  const options = {
    max: 1,
    socket,
    types: { bigint: postgres.BigInt },
    database: "postgres",
    user: "postgres",
    onnotice: () => {},
  };
  const sql: Database = postgres(options);
  await migrate(sql);
  return {
    sql,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await lite.close();
    },
  };
}

const binaries = [
  "/usr/lib/postgresql/18/bin",
  "/usr/lib/postgresql/17/bin",
  "/usr/lib/postgresql/16/bin",
  "/usr/lib/postgresql/15/bin",
];
const folder = binaries.find((path) => existsSync(join(path, "initdb")));

async function openPostgres(binary: string): Promise<TestDatabase> {
  const base = await mkdtemp(join(tmpdir(), "weir-postgres-"));
  await chmod(base, 0o777);
  const data = join(base, "data");
  const port = await freePort();
  const asUser = process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  const command = (...parts: string[]): [string, string[]] => {
    const [program = "", ...rest] = [...asUser, ...parts];
    return [program, rest];
  };
  const made = spawnSync(
    ...command(join(binary, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"),
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = [
    "-c",
    "fsync=off",
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    `unix_socket_directories=${base}`,
    "-c",
    `port=${port}`,
  ];
  const server = spawn(...command(join(binary, "postgres"), "-D", data, ...settings), { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const connect = () =>
    postgres({
      host: "127.0.0.1",
      port,
      user: "postgres",
      database: "postgres",
      types: { bigint: postgres.BigInt },
      onnotice: () => {},
    });
  const sql: Database = await untilAnswering(connect);
  await migrate(sql);
  return {
    sql,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      server.kill("SIGINT");
      await exited;
      await rm(base, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(connect: () => Database): Promise<Database> {
  for (let attempt = 0; ; attempt++) {
    const sql = connect();
    try {
      await sql`SELECT 1`;
      return sql;
    } catch (error) {
      await sql.end({ timeout: 0 });
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

export const databases: { name: string; open: () => Promise<TestDatabase> }[] = [
  { name: "embedded", open: openEmbedded },
  ...(folder === undefined ? [] : [{ name: "PostgreSQL", open: () => openPostgres(folder) }]),
];
