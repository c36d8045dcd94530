import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";
import type { FromThread } from "./postgres-thread.ts";

/** The first byte of a Terminate message, which is dropped: PGlite has only one session. */
const terminate = 0x58;

/** For postgres.js a connected socket: bytes go to the database's thread, its replies come back. */
export class ThreadSocket extends Duplex {
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
