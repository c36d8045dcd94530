/**
 * Starts a PostgreSQL on loopback from this machine's programs, with its own folder, password and database.
 *
 * PostgreSQL refuses to run as root, so as root it runs as another user, who must reach its folder. Tests start many servers: each begins with
 * a copy of a template's data, which saves `initdb` and the migrations.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { freePort } from "./ports.ts";
import { environmentOf, neighbour, type Program } from "./program.ts";
import { openFolder, ServerError, Server } from "./server.ts";

interface PostgresOptions {
  /** The program `postgres`, with `initdb` as its neighbour. */
  program: Program;
  folder: string;
  port?: number;
  /** Whether it survives a power cut. Otherwise it survives only kill -9, which is enough for tests and faster. */
  durable?: boolean;
  /**
   * The folder of a stopped server. A server without data begins with a copy of it; null: it begins empty. Default: the template of the
   * tests.
   */
  template?: string | null | undefined;
}

const run = promisify(execFile);
const name = "weir";

/** The variable that names the template of the tests' many servers, which then need neither initdb nor all migrations. */
export const templateVariable = "WEIR_POSTGRES_TEMPLATE";

/** A PostgreSQL server on loopback with a password and the database "weir". */
export async function startPostgres(options: PostgresOptions): Promise<Server> {
  const { program, folder, port: wanted, durable = false, template = process.env[templateVariable] } = options;
  const port = wanted ?? (await freePort());
  const user = serverUser();
  if (template && !existsSync(join(folder, "data"))) copyTemplate(template, folder);
  const { home, password } = await openFolder(folder, user);
  checkReach(user, [program.path, home]);
  const data = join(home, "data");
  if (!existsSync(join(data, "PG_VERSION"))) await initialize({ program, home, data, user });
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 200,
    jit: "off",
    // Statistics taken at the moment when a test has emptied its tables would make plans for no rows.
    ...(durable ? {} : { fsync: "off", full_page_writes: "off", autovacuum: "off" }),
  };
  return await Server.start({
    name: "postgres",
    program,
    arguments: ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])],
    folder: home,
    port,
    url: `postgres://${name}:${password}@127.0.0.1:${port}/${name}`,
    user,
    stopSignal: "SIGINT",
    abortSignal: "SIGQUIT",
    ready: () => createDatabase(`postgres://${name}:${password}@127.0.0.1:${port}/postgres`, name),
  });
}

/** Creates a database on the server of `serverUrl` if it is missing: empty, or a copy of `template`. */
export async function createDatabase(serverUrl: string, database: string, template = "template1"): Promise<void> {
  const sql = postgres(serverUrl, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${database}`;
    if (found.length === 0) await sql`CREATE DATABASE ${sql(database)} TEMPLATE ${sql(template)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** With the template's password, which its data expect. */
function copyTemplate(template: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const parts = ["data", "password"].map((part) => join(template, part));
  const { status, stderr } = spawnSync("cp", ["--archive", ...parts, folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot copy the PostgreSQL data of "${template}": ${stderr}`);
}

/**
 * The other servers start meanwhile. If one of them cannot, this process ends, and initdb with it. So the folder gets its name only once it
 * is complete; otherwise no later start could use it.
 */
async function initialize({
  program,
  home,
  data,
  user,
}: Record<"home" | "data", string> & { program: Program; user: ServerUser | null }): Promise<void> {
  const begun = `${data}.begun`;
  rmSync(begun, { recursive: true, force: true });
  const choices = ["--username", name, "--auth", "scram-sha-256", "--pwfile", join(home, "password")];
  const initdb = neighbour(program, "initdb");
  try {
    await run(initdb.path, ["--pgdata", begun, ...choices, "--encoding", "UTF8", "--no-locale", "--no-sync"], {
      env: environmentOf(initdb),
      cwd: home,
      uid: user?.uid,
      gid: user?.gid,
    });
    renameSync(begun, data);
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    throw new ServerError(`Cannot make a PostgreSQL data folder in "${home}": ${why}`);
  }
}

interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The user that the server runs as; null: this process's. PostgreSQL refuses to run as root, so for root it runs as `postgres`, or as
 * `nobody` if there is no such user.
 */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name], { encoding: "utf8" }));
    if (uid?.status === 0 && gid?.status === 0) return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new ServerError('Cannot run PostgreSQL as root, and there is no user "postgres" or "nobody": run as another user');
}

/** @throws ServerError that names the path which the user cannot reach, because a folder above it is closed */
function checkReach(user: ServerUser | null, paths: string[]): void {
  if (user === null) return;
  for (const path of paths) {
    const { status } = spawnSync("test", ["-x", path], { uid: user.uid, gid: user.gid });
    if (status === 0) continue;
    throw new ServerError(
      `Cannot run PostgreSQL as user "${user.name}": "${path}" is closed to it. ` +
        "Run as a user other than root, or set DATA_DIR to a folder that others may enter",
    );
  }
}
