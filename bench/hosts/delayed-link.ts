/**
 * A long cable to a server: bytes arrive so much later in both directions, in their order. The kernel's own delay (netem) is not in
 * every kernel. Only what TCP itself waits for is not delayed: opening a connection, and acknowledgements.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** Timers of the runtime count whole milliseconds; a wait for a value that never changes ends within some microseconds. */
const never = new Int32Array(new SharedArrayBuffer(4));

export class DelayedLink implements Disposable {
  /** The time of one direction. */
  onewayMs = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number) {
    this.#server = createServer({ noDelay: true }, (near) => {
      const far = connect({ port: targetPort, host: "127.0.0.1", noDelay: true });
      this.#carry(near, far);
      this.#carry(far, near);
    });
  }

  /** From a free port of the host to a port of loopback. */
  static async open(host: string, targetPort: number): Promise<DelayedLink> {
    const link = new DelayedLink(targetPort);
    link.#server.listen(0, host);
    await once(link.#server, "listening");
    return link;
  }

  get port(): number {
    // The server listens on a TCP port, so this is neither a pipe's name nor null.
    return (this.#server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const line = new Line(() => this.onewayMs);
    from.on("data", (bytes: Buffer) => {
      line.push(() => {
        if (to.destroyed || to.write(bytes)) return;
        from.pause();
        to.once("drain", () => from.resume());
      });
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      line.push(() => to.destroySoon());
    });
  }
}

/** What is on its way in one direction. */
class Line {
  readonly #onewayMs: () => number;
  readonly #onTheWay: { dueAt: number; arrive(): void }[] = [];

  constructor(onewayMs: () => number) {
    this.#onewayMs = onewayMs;
  }

  push(arrive: () => void): void {
    const onewayMs = this.#onewayMs();
    if (onewayMs === 0 && this.#onTheWay.length === 0) return arrive();
    this.#onTheWay.push({ dueAt: performance.now() + onewayMs, arrive });
    if (this.#onTheWay.length === 1) void this.#deliver();
  }

  async #deliver(): Promise<void> {
    for (let [first] = this.#onTheWay; first !== undefined; [first] = this.#onTheWay) {
      const leftMs = first.dueAt - performance.now();
      if (leftMs > 0) await Atomics.waitAsync(never, 0, 0, leftMs).value;
      first.arrive();
      this.#onTheWay.shift();
    }
  }
}
