/**
 * One connection to NATS that always reconnects, with subscriptions that survive it. Servers and processes may start in any order. While it
 * is down, calls fail at once; what was sent just before may be lost.
 * A server that is cut off from its cluster still serves its clients, but these reach no client of another server, and no event is stored.
 * Servers tell their clients which servers they see, so a client whose server sees less than half of them looks for one that sees more.
 * Bytes go over Bun's sockets where they are plain (nats-transport.ts), and over the library's where they are encrypted.
 */
import { NatsConnectionImpl, setTransportFactory, type Server, type Transport } from "@nats-io/nats-core/internal";
import type { ConnectionOptions, Msg, NatsConnection, Subscription } from "nats";
import { NodeTransport, nodeResolveHost } from "nats/lib/node_transport.js";
import { readNatsAddress } from "../../kernel/addresses.ts";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import type { Secret } from "../../kernel/secret.ts";
import { BusTimeoutError, BusUnavailableError, type ScatterService, type Service, type Stream, type Topic } from "../bus.ts";
import { busCallMs, busConnectMs, busPingMs, busPingsUnansweredMax, busReconnectMs, busClusterLookMs } from "../limits.ts";
import { BunTransport, TlsOfferedError } from "./nats-transport.ts";

interface LinkParts {
  url: Secret;
  /** Shown by the server. */
  name: string;
  clock: Clock;
  log: Logger;
}

/** Called on every change. Messages that were sent before `down` may be lost. */
interface LinkListener {
  up?(): void;
  down?(): void;
}

type MessageCallback = (message: Msg) => void;

interface Kept {
  subject: string;
  callback: MessageCallback;
  current: Subscription | null;
}

export class NatsLink implements AsyncDisposable {
  readonly #parts: LinkParts;
  readonly #kept = new Set<Kept>();
  readonly #listeners = new Set<LinkListener>();
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #connection: NatsConnection | null = null;
  #up = false;

  /** Connects in the background. */
  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  get up(): boolean {
    return this.#up;
  }

  /** @throws BusUnavailableError while it is down */
  get connection(): NatsConnection {
    if (!this.#up || this.#connection === null) throw new BusUnavailableError("The bus is not connected");
    return this.#connection;
  }

  watch(listener: LinkListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Sends a message, or drops it while the link is down. */
  publish(subject: string, payload: Uint8Array | string = "", reply?: string): void {
    if (this.#up) this.#connection?.publish(subject, payload, reply === undefined ? {} : { reply });
  }

  /** The promise's own outcome, or BusTimeoutError once the link goes down: a request in flight may be lost. */
  whileUp<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const watching = this.watch({ down: () => reject(new BusTimeoutError("The bus disconnected")) });
      promise.then(resolve, reject).finally(() => watching[Symbol.dispose]());
    });
  }

  /** Receives until disposed; disposing waits for messages that the server has sent already. */
  subscribe(subject: string, callback: MessageCallback): AsyncDisposable {
    const kept: Kept = { subject, callback, current: null };
    this.#kept.add(kept);
    if (this.#connection !== null) this.#subscribeOn(this.#connection, kept);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#kept.delete(kept);
        const { current } = kept;
        if (current === null || current.isClosed()) return;
        if (this.#up) await withDeadline(this.#parts.clock, busCallMs, "Draining", current.drain()).catch(() => {});
        current.unsubscribe();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    if (connection !== null) {
      const { clock } = this.#parts;
      if (this.#up) await withDeadline(clock, busCallMs, "Flushing", connection.flush()).catch(() => {});
      this.#change(false);
      await withDeadline(clock, busCallMs, "Closing", connection.close()).catch(() => {});
    }
    await this.#ended;
  }

  /** The client library reconnects by itself; should it give up, a new connection is made. */
  async #run(): Promise<void> {
    const { clock, log, name } = this.#parts;
    const { signal } = this.#closing;
    for (let refused = false; !signal.aborted;) {
      try {
        const options = optionsOf(this.#parts);
        const connection = await connectNats(options);
        refused = false;
        await using _view = leaveLoneServers({ ...this.#parts, connection, options });
        await this.#serve(connection);
      } catch (error) {
        if (!refused) log.warn({ event: "bus.connect.failed", link: name, reason: String(error) });
        refused = true;
      }
      if (!signal.aborted) await sleep(clock, busReconnectMs, signal);
    }
  }

  async #serve(connection: NatsConnection): Promise<void> {
    if (this.#closing.signal.aborted) return await connection.close();
    this.#connection = connection;
    for (const kept of this.#kept) this.#subscribeOn(connection, kept);
    this.#change(true);
    for await (const status of connection.status()) {
      if (status.type === "disconnect") this.#change(false);
      if (status.type === "reconnect") this.#change(true);
      if (status.type === "error") this.#parts.log.warn({ event: "bus.error", reason: String(status.error) });
    }
    await connection.closed();
    this.#connection = null;
    this.#change(false);
  }

  /** Without the catch, a callback that throws would end the library's reading of the connection. */
  #subscribeOn(connection: NatsConnection, kept: Kept): void {
    const callback = (refusal: Error | null, message: Msg): void => {
      try {
        if (refusal !== null) throw refusal;
        kept.callback(message);
      } catch (error) {
        this.#parts.log.error({ event: "bus.message.failed", subject: kept.subject, reason: String(error) });
      }
    };
    kept.current = connection.subscribe(kept.subject, { callback });
  }

  #change(up: boolean): void {
    if (this.#up === up) return;
    this.#up = up;
    this.#parts.log.info({ event: up ? "bus.up" : "bus.down", link: this.#parts.name });
    for (const listener of this.#listeners) (up ? listener.up : listener.down)?.call(listener);
  }
}

function optionsOf({ url, name }: LinkParts): ConnectionOptions {
  const { servers, user, password, encrypted } = readNatsAddress(url.reveal());
  return {
    servers,
    // Addresses that servers give each other may not be reachable from here, and they are not in the configuration.
    ignoreClusterUpdates: true,
    ...(user === null ? {} : { user, pass: password ?? "" }),
    ...(encrypted ? { tls: {} } : {}),
    name,
    timeout: busConnectMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: busReconnectMs,
    reconnectJitter: busReconnectMs / 4,
    pingInterval: busPingMs,
    maxPingOut: busPingsUnansweredMax,
    // A server that is being set up may refuse our password for a while.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  };
}

// Transport

/** Does what `connect` of the library does, which sets a transport of its own. */
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

// Leaving a server that lost its cluster

interface ClusterViewParts {
  connection: NatsConnection;
  /** The connection's options. */
  options: ConnectionOptions;
  clock: Clock;
  log: Logger;
}

/** Until disposed, moves the connection to another server when its own sees too few. */
function leaveLoneServers({ connection, options, clock, log }: ClusterViewParts): AsyncDisposable {
  const servers = [options.servers ?? []].flat();
  if (servers.length < 2) return new AsyncDisposableStack();
  return repeatUntilStopped({
    clock,
    async round() {
      const own = seenBy(connection);
      if (own === null || own * 2 >= servers.length || !(await isBetterElsewhere(own))) return;
      log.warn({ event: "bus.server.alone", link: options.name, server: connection.getServer(), sees: own });
      await connection.reconnect();
    },
    everyMs: busClusterLookMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "bus.view.failed", reason: String(error) }),
  });

  async function isBetterElsewhere(own: number): Promise<boolean> {
    const others = servers.filter((server) => server !== connection.getServer());
    const views = await Promise.all(others.map((server) => viewOf(server, options)));
    return views.some((seen) => seen > own);
  }
}

/** How many servers the cluster has, as this server sees it. 0: it does not answer. */
async function viewOf(server: string, options: ConnectionOptions): Promise<number> {
  try {
    const connection = await connectNats({ ...options, servers: server, reconnect: false, maxReconnectAttempts: 0 });
    const seen = seenBy(connection);
    await connection.close();
    return seen ?? 0;
  } catch {
    return 0;
  }
}

/** null: the server does not say, as where its configuration forbids it. */
function seenBy(connection: NatsConnection): number | null {
  return connection.info?.connect_urls?.length ?? null;
}

// Every subject. They are made of constants and our own ids, never of user input. Fleets of two versions share them, so they stay
// as they are.

/** Requests to one server of a service. */
export function requestSubject(service: Service, serverId: string): string {
  return `weir.ask.${service}.${serverId}`;
}

export function requestHeartbeatSubject(service: Service): string {
  return `weir.beat.ask.${service}`;
}

export function scatterSubject(service: ScatterService): string {
  return `weir.survey.${service}`;
}

export function scatterHeartbeatSubject(service: ScatterService): string {
  return `weir.beat.survey.${service}`;
}

export function topicSubject(topic: Topic): string {
  return `weir.topic.${topic}`;
}

/** The first partition has the subject of the stream itself. */
export function eventSubject(stream: Stream, partition: number): string {
  return partition === 0 ? `weir.event.${stream}` : `weir.event.${stream}.${partition}`;
}

/** null: the subject belongs to no partition. */
export function partitionOfSubject(subject: string, stream: Stream): number | null {
  if (subject === eventSubject(stream, 0)) return 0;
  const number = Number(subject.slice(eventSubject(stream, 0).length + 1));
  return Number.isInteger(number) && subject === eventSubject(stream, number) ? number : null;
}

/** The subjects of all partitions. */
export function eventSubjects(stream: Stream): string[] {
  return [eventSubject(stream, 0), `weir.event.${stream}.*`];
}

export function eventHeartbeatSubject(stream: Stream): string {
  return `weir.beat.event.${stream}`;
}
