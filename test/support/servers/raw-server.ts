/** A server of raw bytes: the test decides what it writes and when it closes. */
import type { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

export interface Secure {
  key: Buffer;
  cert: Buffer;
}

export class RawServer implements AsyncDisposable {
  readonly #server: Server;
  readonly connections: Socket[] = [];
  /** What was received so far, by connection. */
  readonly received: string[] = [];

  /** @param secure its key and certificate; absent: plain TCP */
  constructor(onData: (socket: Socket, text: string) => void, secure?: Secure) {
    this.#server = secure ? createTlsServer(secure) : createServer();
    this.#server.on("tlsClientError", () => {});
    this.#server.on(secure ? "secureConnection" : "connection", (socket: Socket) => {
      const number = this.connections.push(socket) - 1;
      this.received[number] = "";
      socket.on("error", () => {});
      socket.on("data", (data: Buffer) => {
        this.received[number] += data.toString("latin1");
        onData(socket, data.toString("latin1"));
      });
    });
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return this;
  }

  get port(): number {
    // The server listens on a TCP port, so its address is neither a pipe's name nor null.
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
