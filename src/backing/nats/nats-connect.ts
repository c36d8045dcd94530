/** Which way the bytes of a connection to NATS go: over Bun's sockets where they are plain, over the library's where they are encrypted. */
import { NatsConnectionImpl, setTransportFactory, type Server, type Transport } from "@nats-io/nats-core/internal";
import type { ConnectionOptions, NatsConnection } from "nats";
import { NodeTransport, nodeResolveHost } from "nats/lib/node_transport.js";
import { BunTransport, TlsOfferedError } from "./nats-transport.ts";

/** As `connect` of the library, which sets a transport of its own. */
export function connectNats(options: ConnectionOptions): Promise<NatsConnection> {
  // There is one factory for the whole process, asked at each attempt of each connection: which way to go is found out by the attempt.
  setTransportFactory({ factory: () => new EitherTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}

class EitherTransport implements Transport {
  closeError?: Error;
  readonly #closed = Promise.withResolvers<Error | void>();
  #chosen: Transport = typeof Bun === "undefined" ? new NodeTransport() : new BunTransport();

  /** Where the server offers TLS, nothing was sent to it in the clear when the library's own transport takes over and accepts. */
  async connect(server: Server, options: ConnectionOptions): Promise<void> {
    if (options.tls) this.#chosen = new NodeTransport();
    try {
      await this.#chosen.connect(server, options);
    } catch (error) {
      if (!(error instanceof TlsOfferedError)) throw error;
      this.#chosen = new NodeTransport();
      await this.#chosen.connect(server, options);
    }
    void this.#chosen.closed().then((error) => {
      if (error instanceof Error) this.closeError = error;
      this.#closed.resolve(error);
    });
  }

  get lang(): string {
    return this.#chosen.lang;
  }

  get version(): string {
    return this.#chosen.version;
  }

  get isClosed(): boolean {
    return this.#chosen.isClosed;
  }

  isEncrypted(): boolean {
    return this.#chosen.isEncrypted();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    return this.#chosen[Symbol.asyncIterator]();
  }

  send(frame: Uint8Array): void {
    this.#chosen.send(frame);
  }

  close(error?: Error): Promise<void> {
    return this.#chosen.close(error);
  }

  disconnect(): void {
    this.#chosen.disconnect();
  }

  closed(): Promise<Error | void> {
    return this.#closed.promise;
  }

  discard(): void {
    this.#chosen.discard();
  }
}
