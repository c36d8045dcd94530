/** The thread that PGlite runs in: a long query there stops no stream of the main thread. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { embeddedStatementMsMax } from "../../limits/constants.ts";
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
      tell({ kind: "bytes", bytes: new Uint8Array(await timer.run(() => database.execProtocolRaw(bytes))) });
    }
  } catch (error) {
    tell({ kind: "failed", reason: String(error) });
  }
}
