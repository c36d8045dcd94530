/** The thread that PGlite runs in: a long query there stops no stream of the main thread. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { embeddedStatementMsMax } from "../limits.ts";
import { StatementTimer } from "./statement-timer.ts";

/** What the main thread asks for first; further messages go through `port`: bytes for the database, null to close it. */
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
  const tell = (message: FromThread): void => port.postMessage(message, message.kind === "bytes" ? [message.bytes.buffer] : []);
  try {
    const database = await PGlite.create({ dataDir: folder });
    timer.attach(database);
    // It has one session, for ever.
    await database.exec(`SET statement_timeout = ${embeddedStatementMsMax}`);
    tell({ kind: "opened" });
    let last: Promise<void> = Promise.resolve();
    port.on("message", (bytes: Uint8Array | null) => {
      last = last.then(() => step(database, bytes, tell));
    });
  } catch (error) {
    tell({ kind: "failed", reason: String(error) });
  }
}

async function step(database: PGlite, bytes: Uint8Array | null, tell: (message: FromThread) => void): Promise<void> {
  try {
    if (bytes === null) {
      await database.close();
      tell({ kind: "closed" });
    } else {
      tell({ kind: "bytes", bytes: await timer.run(() => exchange(database, bytes)) });
    }
  } catch (error) {
    tell({ kind: "failed", reason: String(error) });
  }
}

/**
 * As a stream, for `execProtocolRaw` parses each answer a second time and keeps what it parsed for as long as the database is open:
 * https://github.com/electric-sql/pglite/pull/1025
 */
async function exchange(database: PGlite, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  // A piece lies in the database's own memory, which the next one overwrites.
  await database.execProtocolRawStream(bytes, { onRawData: (piece) => void pieces.push(piece.slice()) });
  const answer = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    answer.set(piece, at);
    at += piece.length;
  }
  return answer;
}
