/** Publishes archives as OSV does: with ETags and parts, and with the faults that a test asks for. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Published {
  bytes: Uint8Array;
  etag: string;
}

export class ArchiveServer implements AsyncDisposable {
  /** By path, such as `/npm/all.zip`. */
  readonly published = new Map<string, Published>();
  /** `path from-byte status` of each answer. */
  readonly answered: string[] = [];
  /** The next answer stops after this many bytes, until the test breaks it off. */
  stopAfter: number | null = null;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<ArchiveServer> {
    const server = new ArchiveServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    // A server that listens on a port has this address.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  #answer({ url = "", headers: asked }: IncomingMessage, response: ServerResponse): void {
    const found = this.published.get(url);
    const send = (status: number, from: number, headers: Record<string, string | number> = {}) => {
      this.answered.push(`${url} ${from} ${status}`);
      response.writeHead(status, headers);
    };
    if (found === undefined) {
      send(404, 0);
      return void response.end();
    }
    const { bytes, etag } = found;
    const headers = { etag, "last-modified": "Thu, 26 Nov 2026 10:00:00 GMT" };
    if (asked["if-none-match"] === etag) {
      send(304, 0, headers);
      return void response.end();
    }
    const from = asked["if-range"] === etag ? Number(/\d+/.exec(asked.range ?? "")?.[0]) : 0;
    const rest = bytes.subarray(from);
    const range = from === 0 ? {} : { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
    send(from === 0 ? 200 : 206, from, { ...headers, ...range, "content-length": rest.length });
    if (this.stopAfter === null) return void response.end(rest);
    response.write(rest.subarray(0, this.stopAfter));
    this.stopAfter = null;
  }

  breakOff(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.breakOff();
    this.#server.close();
    await once(this.#server, "close");
  }
}
