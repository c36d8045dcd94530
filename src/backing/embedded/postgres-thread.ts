/** The thread of PGlite: a long query there delays no stream of the main thread. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { embeddedStatementMsMax } from "../limits.ts";
import { StatementTimer } from "./statement-timer.ts";

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
    const database = await PGlite.create({ dataDir: folder });
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

/** PGlite's file system throws objects that are no errors, with the numbers of https://wasix.org (WASI's errno). */
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
 * As a stream, for `execProtocolRaw` parses each reply a second time and keeps the result for as long as the database is open:
 * https://github.com/electric-sql/pglite/pull/1025
 */
async function exchange(database: PGlite, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  // A piece is in the database's own memory, which the next one overwrites.
  await database.execProtocolRawStream(bytes, { onRawData: (piece) => void pieces.push(piece.slice()) });
  const reply = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    reply.set(piece, at);
    at += piece.length;
  }
  return reply;
}
