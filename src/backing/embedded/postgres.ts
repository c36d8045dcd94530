/**
 * PostgreSQL within this process: PGlite in its thread, spoken to by postgres.js in the ordinary wire protocol over memory, so that all
 * other code is that of a fleet. There is one session: statements wait for each other, and inside a transaction only its own handle may be
 * used.
 * PGlite lacks PostgreSQL's background processes, so their work is done here (`keepUp`): checkpoints, so that the write-ahead log and with
 * it the next start after a kill stay short; vacuum and statistics, so that tables stay small and plans good. A folder that cannot be
 * opened is an error with its reason.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Duplex } from "node:stream";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import postgres from "postgres";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import type { Database } from "../backing.ts";
import { databaseCloseMs, databaseOpenMs, upkeepMs, upkeepWalBytesMax } from "../limits.ts";
import type { FromThread, OpenInThread } from "./postgres-thread.ts";

/** The embedded database cannot be opened, or its thread has failed. */
export class EmbeddedDatabaseError extends Error {
  override name = "EmbeddedDatabaseError";
}

export interface OpenEmbedded extends AsyncDisposable {
  sql: Database;
}

/**
 * Opens the database in `folder`, which is created where it is missing. The caller must be the folder's only user: PGlite does not lock it.
 * @throws EmbeddedDatabaseError when the folder's content cannot be opened
 */
export async function openEmbeddedPostgres({
  folder,
  clock,
  log,
}: {
  folder: string;
  clock: Clock;
  log: Logger;
}): Promise<OpenEmbedded> {
  if (!existsSync(join(folder, "PG_VERSION"))) await createDatabase(folder, clock);
  const port = await openInThread(folder, clock);
  const sql = speakThrough(port);
  const upkeep = startUpkeep({ sql, clock, log });
  return {
    sql,
    async [Symbol.asyncDispose]() {
      await upkeep[Symbol.asyncDispose]();
      await sql.end();
      await closeInThread(port, clock);
    },
  };
}

/** Made next to its final place and moved there when complete, so a first start that is killed leaves nothing that cannot be opened. */
async function createDatabase(folder: string, clock: Clock): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await rm(unfinished, { recursive: true, force: true });
  await closeInThread(await openInThread(unfinished, clock), clock);
  await rename(unfinished, folder);
}

async function closeInThread(port: MessagePort, clock: Clock): Promise<void> {
  const closed = messageOf(port, "closed");
  port.postMessage(null);
  await withDeadline(clock, databaseCloseMs, "Closing the database", closed);
  port.close();
}

/** Resolves when the thread says `kind`; rejects when it says that it failed. */
function messageOf(port: MessagePort, kind: FromThread["kind"]): Promise<void> {
  return new Promise((resolve, reject) => {
    const listener = (message: FromThread): void => {
      if (message.kind !== kind && message.kind !== "failed") return;
      port.off("message", listener);
      if (message.kind === "failed") reject(new EmbeddedDatabaseError(message.reason));
      else resolve();
    };
    port.on("message", listener);
  });
}

async function openInThread(folder: string, clock: Clock): Promise<MessagePort> {
  const { port1: port, port2: remote } = new MessageChannel();
  const opened = messageOf(port, "opened");
  const request: OpenInThread = { folder, port: remote };
  databaseThread().postMessage(request, [remote]);
  try {
    await withDeadline(clock, databaseOpenMs, "Opening the database", opened);
    return port;
  } catch (error) {
    port.close();
    throw new EmbeddedDatabaseError(`Cannot open the database in "${folder}": ${reasonOf(error)}`, { cause: error });
  }
}

let thread: Worker | null = null;

/**
 * One thread for the life of the process, whatever it opens: ending a thread is not safe on every runtime. An uncaught error in it ends the
 * process; acknowledged data is on disk.
 */
function databaseThread(): Worker {
  if (thread === null) {
    thread = new Worker(new URL("./postgres-thread.ts", import.meta.url));
    thread.unref();
  }
  return thread;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One connection that never ends by itself: PGlite has one session, in which prepared statements stay prepared. */
function speakThrough(port: MessagePort): Database {
  const options = {
    socket: () => new ThreadSocket(port),
    max: 1,
    // postgres.js 3.4.9 forgets the connection of a transaction that begins exactly when this bound is reached.
    max_pipeline: Number.MAX_SAFE_INTEGER,
    database: "postgres",
    user: "postgres",
    types: { bigint: postgres.BigInt },
    max_lifetime: null,
    keep_alive: null,
    onnotice: () => {},
  };
  return postgres(options);
}

/** The first byte of a Terminate message, which is dropped: PGlite has only one session. */
const terminate = 0x58;

/** A connected socket to postgres.js: bytes go to the database's thread, and its replies come back. */
class ThreadSocket extends Duplex {
  readonly #port: MessagePort;
  readonly #listener = (message: FromThread): void => {
    if (message.kind === "bytes") this.push(message.bytes);
    if (message.kind === "failed") this.destroy(new Error(`The embedded database failed: ${message.reason}`));
  };

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on("message", this.#listener);
  }

  /** postgres.js ends an open socket and waits for one that is not yet closed. */
  get readyState(): "open" | "closed" {
    return this.destroyed ? "closed" : "open";
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (chunk[0] !== terminate) {
      const bytes = new Uint8Array(chunk);
      this.#port.postMessage(bytes, [bytes.buffer]);
    }
    done();
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.off("message", this.#listener);
    done(error);
  }
}

// Upkeep

/** One round: a checkpoint if enough was written since the last one, and a vacuum of the table that needs it most. */
export async function keepUp(sql: Database): Promise<void> {
  const [wal] = await sql<{ bytes: bigint }[]>`
    SELECT (pg_current_wal_insert_lsn() - redo_lsn)::bigint AS bytes FROM pg_control_checkpoint()`;
  if (wal && wal.bytes > upkeepWalBytesMax) await sql.unsafe("CHECKPOINT");
  // The thresholds are those of autovacuum, with a larger minimum.
  const [table] = await sql<{ name: string; dead: boolean }[]>`
    SELECT relname AS name, n_dead_tup > 1000 + 0.2 * n_live_tup AS dead FROM pg_stat_user_tables
    WHERE n_dead_tup > 1000 + 0.2 * n_live_tup OR n_mod_since_analyze > 1000 + 0.1 * n_live_tup
    ORDER BY n_dead_tup DESC, n_mod_since_analyze DESC LIMIT 1`;
  if (table) await sql.unsafe(`${table.dead ? "VACUUM (ANALYZE)" : "ANALYZE"} "${table.name}"`);
}

/** Runs until disposed; disposing waits for the current round. */
function startUpkeep({ sql, clock, log }: { sql: Database; clock: Clock; log: Logger }): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    round: () => keepUp(sql),
    everyMs: upkeepMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "database.upkeep.failed", reason: String(error) }),
  });
}
