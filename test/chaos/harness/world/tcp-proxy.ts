/**
 * A TCP proxy on loopback that imitates a bad network: it cuts, slows down, silences or half-opens connections, or breaks them in
 * the middle of a message. Within a connection that lives on, no byte is lost or reordered, as TCP promises.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { DelayQueue } from "./delay-queue.ts";

export type LinkCondition =
  | { kind: "healthy" }
  /** Connections are closed, new ones at once. */
  | { kind: "cut" }
  /** Bytes arrive this much later, in both directions. */
  | { kind: "delay"; ms: number }
  /** Connections stay open, new ones are accepted, and no byte arrives until the condition changes. */
  | { kind: "silent" };

interface Pair {
  near: Socket;
  far: Socket;
  /** The far side is closed, and the near side gets no notice of it. */
  isZombie: boolean;
  /** How many bytes may pass before the connection breaks; null: all. */
  bytesLeft: number | null;
}

/** A direction with more delayed chunks than this is not read until they leave. */
const chunksWaitingMax = 4_096;
/** A silent connection checks its condition again after this time. */
const silenceMsMax = 60_000;

export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  #condition: LinkCondition = { kind: "healthy" };
  #changed = Promise.withResolvers<void>();

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ noDelay: true }, (near) => this.#accept(near));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    // The server listens on a TCP port, so this is neither a pipe's name nor null.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Delayed bytes move on under the new condition. */
  set(condition: LinkCondition): void {
    this.#condition = condition;
    if (condition.kind === "cut") this.#closeAll();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** The far end of every connection vanishes without notice, and what is sent to it is discarded. New connections work. */
  halfOpen(): void {
    for (const pair of this.#pairs) {
      pair.isZombie = true;
      pair.far.destroy();
    }
  }

  /** Every connection breaks after this many more bytes, even in the middle of a message. */
  truncateAfter(bytes: number): void {
    for (const pair of this.#pairs) pair.bytesLeft = bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.set({ kind: "cut" });
  }

  #accept(near: Socket): void {
    near.on("error", () => {});
    if (this.#condition.kind === "cut") return void near.resetAndDestroy();
    const far = connect({ port: this.#targetPort, host: "127.0.0.1", noDelay: true });
    const pair: Pair = { near, far, isZombie: false, bytesLeft: null };
    this.#pairs.add(pair);
    this.#carry(pair, near, far);
    this.#carry(pair, far, near);
  }

  #carry(pair: Pair, from: Socket, to: Socket): void {
    const queue = new DelayQueue((arrivedAt) => this.#delay(arrivedAt));
    from.on("data", (bytes: Buffer) => {
      queue.push(() => {
        pass({ pair, to, bytes });
        from.resume();
      });
      if (queue.waiting > chunksWaitingMax) from.pause();
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#pairs.delete(pair);
      if (pair.isZombie && from === pair.far) return;
      queue.push(() => void to.destroySoon());
    });
  }

  #delay(arrivedAt: number): Promise<void> | null {
    const waitMs = this.#waitMs(arrivedAt);
    if (waitMs <= 0) return null;
    const { promise: changed } = this.#changed;
    const passed = new Promise<void>((resolve) => setTimeout(resolve, Math.min(waitMs, silenceMsMax)));
    return Promise.race([changed, passed]).then(() => this.#delay(arrivedAt) ?? undefined);
  }

  #waitMs(arrivedAt: number): number {
    if (this.#condition.kind === "silent") return Infinity;
    return this.#condition.kind === "delay" ? arrivedAt + this.#condition.ms - performance.now() : 0;
  }

  #closeAll(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#pairs.clear();
  }
}

function pass({ pair, to, bytes }: { pair: Pair; to: Socket; bytes: Buffer }): void {
  if (pair.isZombie || to.destroyed) return;
  const left = pair.bytesLeft;
  if (left === null || bytes.length < left) {
    if (left !== null) pair.bytesLeft = left - bytes.length;
    return void to.write(bytes);
  }
  to.write(bytes.subarray(0, left));
  pair.near.destroySoon();
  pair.far.destroySoon();
}
