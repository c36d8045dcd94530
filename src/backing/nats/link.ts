/**
 * One connection to NATS that always reconnects, with subscriptions that survive it. Servers and processes may start in any order. While it
 * is down, calls fail at once; what was sent just before may be lost. A server that is cut off from its cluster still serves its clients,
 * but these reach no client of another server, and no event is stored. Servers tell everybody which servers they see, so a client whose
 * server sees less than half of them looks for one that sees more.
 */
import { createConnection, type Socket } from "node:net";
import { connect, type Msg, type NatsConnection, type NodeConnectionOptions, type Subscription } from "nats";
import { readNatsAddress } from "../../kernel/addresses.ts";
import { sleep, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import type { Secret } from "../../kernel/secret.ts";
import { BusTimeoutError, BusUnavailableError, type ScatterService, type Service, type Stream, type Topic } from "../bus.ts";
import { busCallMs, busConnectMs, busPingMs, busPingsUnansweredMax, busReconnectMs, busClusterLookMs } from "../limits.ts";

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
        // The library never closes the socket of a first attempt whose server says nothing.
        if (refused) await Promise.any(options.servers.map((server) => greetingOf(server, clock)));
        const connection = await connect(options);
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

interface LinkOptions extends NodeConnectionOptions {
  /** Each as `host:port`. */
  servers: string[];
}

function optionsOf({ url, name }: LinkParts): LinkOptions {
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

// Leaving a server that lost its cluster

interface ClusterViewParts {
  connection: NatsConnection;
  /** The connection's options. */
  options: LinkOptions;
  clock: Clock;
  log: Logger;
}

/** Until disposed, moves the connection to another server when its own sees too few. */
function leaveLoneServers({ connection, options, clock, log }: ClusterViewParts): AsyncDisposable {
  const { servers, name } = options;
  if (servers.length < 2) return new AsyncDisposableStack();
  return repeatUntilStopped({
    clock,
    async round() {
      // Without a list the server does not say, for example because its configuration forbids it.
      const own = connection.info?.connect_urls?.length;
      if (own === undefined || own * 2 >= servers.length || !(await isBetterElsewhere(own))) return;
      log.warn({ event: "bus.server.alone", link: name, server: connection.getServer(), sees: own });
      await connection.reconnect();
    },
    everyMs: busClusterLookMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "bus.view.failed", reason: String(error) }),
  });

  async function isBetterElsewhere(own: number): Promise<boolean> {
    const others = servers.filter((server) => server !== connection.getServer());
    const views = await Promise.all(others.map((server) => serversSeenBy(server, clock)));
    return views.some((seen) => seen > own);
  }
}

/** 0: it does not answer, or does not say. */
async function serversSeenBy(server: string, clock: Clock): Promise<number> {
  try {
    const info: unknown = JSON.parse(await greetingOf(server, clock));
    const seen: unknown = typeof info === "object" && info !== null ? Reflect.get(info, "connect_urls") : null;
    return Array.isArray(seen) ? seen.length : 0;
  } catch {
    return 0;
  }
}

// The first message of a server to anybody who connects, in the clear even if it offers TLS

const greetingStart = "INFO ";
const greetingCharactersMax = 65_536;

/**
 * Connects, sends nothing, and hangs up.
 * @param server as `host:port`
 * @returns JSON, not checked
 * @throws Error where no server of NATS greets in time
 */
export async function greetingOf(server: string, clock: Clock): Promise<string> {
  const { hostname, port } = new URL(`nats://${server}`);
  const socket = createConnection({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  try {
    const line = await withDeadline(clock, busConnectMs, "The greeting of NATS", firstLine(socket));
    if (!line.startsWith(greetingStart)) throw new Error("Another server than NATS answers");
    return line.slice(greetingStart.length);
  } finally {
    socket.destroy();
  }
}

async function firstLine(socket: Socket): Promise<string> {
  let text = "";
  for await (const piece of socket.setEncoding("latin1")) {
    text += String(piece);
    const end = text.indexOf("\r\n");
    if (end >= 0) return text.slice(0, end);
    if (text.length > greetingCharactersMax) throw new Error("A greeting of NATS has no end");
  }
  throw new Error("The server hung up before it greeted");
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
