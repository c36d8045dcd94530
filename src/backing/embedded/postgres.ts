/** PostgreSQL within this process: PGlite in its thread, spoken to by postgres.js in the ordinary wire protocol over memory. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import postgres from "postgres";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { databaseOpenMs } from "../limits.ts";
import type { Database } from "../backing.ts";
import type { FromThread, OpenInThread } from "./postgres-thread.ts";
import { ThreadSocket } from "./thread-socket.ts";
import { startUpkeep } from "./upkeep.ts";

/** The embedded database cannot be opened, or its thread has failed. */
export class EmbeddedDatabaseError extends Error {
  override name = "EmbeddedDatabaseError";
}

export interface OpenDatabase extends AsyncDisposable {
  sql: Database;
}

/**
 * Opens the database in `folder`, which is created where it is missing. Its caller owns the folder alone: PGlite does not lock.
 * @throws EmbeddedDatabaseError when what is in the folder cannot be opened
 */
export async function openEmbeddedPostgres({
  folder,
  clock,
  log,
}: {
  folder: string;
  clock: Clock;
  log: Logger;
}): Promise<OpenDatabase> {
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

/** Made beside its place and moved there when it is whole: a first start that is killed leaves nothing that cannot be opened. */
async function createDatabase(folder: string, clock: Clock): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await rm(unfinished, { recursive: true, force: true });
  await closeInThread(await openInThread(unfinished, clock), clock);
  await rename(unfinished, folder);
}

let thread: Worker | null = null;

/**
 * One thread for the life of the process, whatever it opens: ending a thread is not safe on every runtime.
 * An uncaught error in it ends the process: what was acknowledged is on disk.
 */
function databaseThread(): Worker {
  if (thread === null) {
    thread = new Worker(new URL("./postgres-thread.ts", import.meta.url));
    thread.unref();
  }
  return thread;
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

async function closeInThread(port: MessagePort, clock: Clock): Promise<void> {
  const closed = messageOf(port, "closed");
  port.postMessage(null);
  await withDeadline(clock, databaseOpenMs, "Closing the database", closed);
  port.close();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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

/** One connection that never ends by itself: PGlite has one session, and what is prepared in it stays prepared. */
function speakThrough(port: MessagePort): Database {
  const options = {
    socket: () => new ThreadSocket(port),
    max: 1,
    database: "postgres",
    user: "postgres",
    types: { bigint: postgres.BigInt },
    max_lifetime: null,
    keep_alive: null,
    onnotice: () => {},
  };
  return postgres(options);
}
