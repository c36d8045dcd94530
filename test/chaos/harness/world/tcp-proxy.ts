/**
 * A TCP proxy on loopback whose network can be made bad: connections are cut, slowed down, silenced, half-opened or broken off
 * in the middle of a message. Bytes are never lost or reordered within a connection that goes on, as TCP promises.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { Lane } from "./lane.ts";

export type Weather =
  | { kind: "fair" }
  /** Connections are closed, new ones at once. */
  | { kind: "cut" }
  /** Whatever is sent arrives so much later, in both directions. */
  | { kind: "delay"; ms: number }
  /** Connections stay open, new ones are accepted, and nothing arrives until the weather is better. */
  | { kind: "silent" };

interface Pair {
  near: Socket;
  far: Socket;
  /** The far side is gone and the near one is never told. */
  isZombie: boolean;
  /** What may pass before the connection breaks; null: everything. */
  bytesLeft: number | null;
}

/** A direction that holds up more than this is read no further. */
const piecesWaitingMax = 4_096;
/** Silence is looked at again after so long. */
const silenceMsMax = 60_000;

export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  #weather: Weather = { kind: "fair" };
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
    // Listening on a TCP port, hence neither a pipe's name nor null.
    return (this.#server.address() as AddressInfo).port;
  }

  /** What was held up by the weather before goes on in the new one. */
  set(weather: Weather): void {
    this.#weather = weather;
    if (weather.kind === "cut") this.#closeAll();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** The other end of every connection vanishes without a word: what is sent to it is swallowed. New connections are sound. */
  halfOpen(): void {
    for (const pair of this.#pairs) {
      pair.isZombie = true;
      pair.far.destroy();
    }
  }

  /** Every connection breaks after so many more bytes, wherever in a message that is. */
  truncateAfter(bytes: number): void {
    for (const pair of this.#pairs) pair.bytesLeft = bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.set({ kind: "cut" });
  }

  #accept(near: Socket): void {
    near.on("error", () => {});
    if (this.#weather.kind === "cut") return void near.resetAndDestroy();
    const far = connect({ port: this.#targetPort, host: "127.0.0.1", noDelay: true });
    const pair: Pair = { near, far, isZombie: false, bytesLeft: null };
    this.#pairs.add(pair);
    this.#carry(pair, near, far);
    this.#carry(pair, far, near);
  }

  #carry(pair: Pair, from: Socket, to: Socket): void {
    const lane = new Lane((arrivedAt) => this.#holdUp(arrivedAt));
    from.on("data", (bytes: Buffer) => {
      lane.push(() => {
        pass({ pair, to, bytes });
        from.resume();
      });
      if (lane.waiting > piecesWaitingMax) from.pause();
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#pairs.delete(pair);
      if (pair.isZombie && from === pair.far) return;
      lane.push(() => void to.destroySoon());
    });
  }

  #holdUp(arrivedAt: number): Promise<void> | null {
    const waitMs = this.#waitMs(arrivedAt);
    if (waitMs <= 0) return null;
    const { promise: changed } = this.#changed;
    const passed = new Promise<void>((resolve) => setTimeout(resolve, Math.min(waitMs, silenceMsMax)));
    return Promise.race([changed, passed]).then(() => this.#holdUp(arrivedAt) ?? undefined);
  }

  #waitMs(arrivedAt: number): number {
    if (this.#weather.kind === "silent") return Infinity;
    return this.#weather.kind === "delay" ? arrivedAt + this.#weather.ms - performance.now() : 0;
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
