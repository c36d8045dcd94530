/**
 * The thread of PGlite: a long query there delays no stream of the main thread. It also ends statements that run too long. PostgreSQL
 * requests a signal after `statement_timeout`; in PGlite this is a timer on the event loop, which fires only after the statement that it
 * should end. Statements that read or write files call into `StatementTimer` many times, and a timer that is due then fires as a signal
 * would. A statement that only computes is not ended: we have none.
 */
import { parentPort, type MessagePort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { embeddedSharedBuffers, embeddedStatementMsMax } from "../limits.ts";

interface Armed {
  dueMs: number;
  fire: () => void;
}

/** The system calls that access files. */
const accesses = ["open", "read", "write", "llseek"] as const;

type FileSystem = Record<(typeof accesses)[number], (...parameters: unknown[]) => unknown>;

/** Checks PostgreSQL's timers whenever the database uses a file. */
class StatementTimer {
  readonly #armed = new Map<unknown, Armed>();
  #running = false;

  /** Timers that this thread sets while a statement runs are PostgreSQL's. Create this before PGlite. */
  constructor() {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const patched = {
      setTimeout: (fire: () => void, ms?: number): unknown => {
        const id = set(() => {
          this.#armed.delete(id);
          fire();
        }, ms);
        if (this.#running)
          this.#armed.set(id, { dueMs: performance.now() + (ms ?? 0), fire: () => this.#fireNow(id, fire, clear) });
        return id;
      },
      clearTimeout: (id: Parameters<typeof clear>[0]): void => {
        this.#armed.delete(id);
        clear(id);
      },
    };
    Object.assign(globalThis, patched);
  }

  /** Checks the timers whenever this database uses a file. */
  attach(database: PGlite): void {
    const files = fileSystemOf(database);
    for (const access of accesses) {
      const original = files[access].bind(files);
      files[access] = (...parameters) => {
        this.#check();
        return original(...parameters);
      };
    }
  }

  async run<T>(statement: () => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await statement();
    } finally {
      this.#running = false;
    }
  }

  #check(): void {
    if (!this.#running || this.#armed.size === 0) return;
    const now = performance.now();
    for (const { dueMs, fire } of this.#armed.values()) if (dueMs <= now) fire();
  }

  #fireNow(id: ReturnType<typeof setTimeout>, fire: () => void, clear: typeof clearTimeout): void {
    this.#armed.delete(id);
    clear(id);
    fire();
  }
}

/** Emscripten's file system: its system calls go through the properties of this object. */
function fileSystemOf({ Module: { FS } }: PGlite): FileSystem {
  return FS as unknown as FileSystem;
}

/** The main thread's first message; further messages go through `port`: bytes for the database, null to close it. */
export interface OpenInThread {
  folder: string;
  port: MessagePort;
}

export type FromThread =
  | { kind: "opened" }
  | { kind: "bytes"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "failed"; reason: string }
  | { kind: "closed" };

const timer = new StatementTimer();

parentPort?.on("message", ({ folder, port }: OpenInThread) => void serve(folder, port));

async function serve(folder: string, port: MessagePort): Promise<void> {
  const send = (message: FromThread): void => port.postMessage(message, message.kind === "bytes" ? [message.bytes.buffer] : []);
  try {
    const startParams = [...PGlite.defaultStartParams, "-c", `shared_buffers=${embeddedSharedBuffers}`];
    const database = await PGlite.create({ dataDir: folder, startParams });
    timer.attach(database);
    // It has only one session.
    await database.exec(`SET statement_timeout = ${embeddedStatementMsMax}`);
    send({ kind: "opened" });
    let last: Promise<void> = Promise.resolve();
    port.on("message", (bytes: Uint8Array | null) => {
      last = last.then(() => step(database, bytes, send));
    });
  } catch (error) {
    send({ kind: "failed", reason: reasonOf(error) });
  }
}

/** PGlite's file system throws objects that are not errors, with the numbers of https://wasix.org (WASI's errno). */
const fileReasons: Record<number, string> = {
  2: "permission denied",
  29: "the disk does not work",
  51: "the disk is full",
  69: "the file system is read-only",
};

function reasonOf(error: unknown): string {
  if (error instanceof Error) return String(error);
  const errno: unknown = Object(error).errno;
  if (typeof errno !== "number") return String(error);
  return fileReasons[errno] ?? `error ${errno} of the file system`;
}

async function step(database: PGlite, bytes: Uint8Array | null, send: (message: FromThread) => void): Promise<void> {
  try {
    if (bytes === null) {
      await database.close();
      send({ kind: "closed" });
    } else {
      send({ kind: "bytes", bytes: await timer.run(() => exchange(database, bytes)) });
    }
  } catch (error) {
    send({ kind: "failed", reason: String(error) });
  }
}

/**
 * As a stream, because `execProtocolRaw` parses each reply a second time and keeps the result for as long as the database is open:
 * https://github.com/electric-sql/pglite/pull/1025
 */
async function exchange(database: PGlite, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  // A piece is in the database's own memory, which the next piece overwrites.
  await database.execProtocolRawStream(bytes, { onRawData: (piece) => void pieces.push(piece.slice()) });
  const reply = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    reply.set(piece, at);
    at += piece.length;
  }
  return reply;
}
