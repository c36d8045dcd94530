/** A client over a bare socket, which may do what no library would. */
import { connect, type Socket } from "node:net";

export class RawClient implements Disposable {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #text = "";

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("error", () => {});
    this.#socket.on("data", (data) => (this.#text += data.toString("latin1")));
    this.#closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
  }

  /** What was received so far. */
  get text(): string {
    return this.#text;
  }

  /** Sends text unchanged, with lines joined by CRLF. */
  send(...lines: string[]): this {
    this.#socket.write(lines.join("\r\n"), "latin1");
    return this;
  }

  /** Stops reading. */
  stopReading(): this {
    this.#socket.pause();
    return this;
  }

  /** Resolves with all that was received when the server has closed the connection. */
  async answer(): Promise<string> {
    await this.#closed;
    return this.#text;
  }

  /** Breaks the connection like a killed client. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
