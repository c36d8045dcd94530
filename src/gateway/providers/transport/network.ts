/**
 * The network transport: connections to providers, kept between calls, each with the one call that it carries.
 * It reuses the most recent connection first, so that surplus connections age and close; one that is too old is not used, since the
 * provider is about to close it. A connection is kept for the next call only if the response ended by its framing and nothing came after
 * it. Bytes are kept until the caller reads them, with a bounded read-ahead; then the socket is paused, so that a slow reader slows its
 * provider down.
 * It does not use fetch: Bun's fetch passes every piece from a separate thread, holds 64 KiB per stream and up to 3 MiB of an unread one,
 * and does not report connecting.
 */
import { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { GatheredBytes } from "../../../http/body.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { idleConnectionMsMax, idleConnectionsPerOrigin, staleConnectionMsMax, upstreamReadAheadBytesMax } from "../../limits.ts";
import { AnswerReader, ConnectionClosedError, type AnswerParts, type ResponseHead } from "./answer-reader.ts";
import {
  type Post,
  type PostOptions,
  type Transport,
  type TransportCall,
  StaleConnectionError,
  type BytesReceiver,
} from "./transport.ts";

const networks = new WeakMap<Clock, Network>();

/** One network for each clock, and so one in a process: calls share its connections. */
export function networkOf(clock: Clock): Transport {
  const known = networks.get(clock) ?? new Network(clock);
  networks.set(clock, known);
  return known;
}

interface Idle {
  connection: Connection;
  /** Monotonic milliseconds. */
  since: number;
}

export class Network implements Transport, ConnectionPool {
  readonly #clock: Clock;
  /** By origin, whose number the catalog's providers bound; the most recently used is last. */
  readonly #idle = new Map<string, Idle[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  post(url: URL, post: Post, { fresh = false }: PostOptions = {}): TransportCall {
    const destination = destinationOf(url);
    const request = { head: requestHead(destination, post), body: post.body };
    const kept = fresh ? null : this.#takeIdle(destination.origin);
    return (kept ?? new Connection(url, this, this.#clock)).carry(request);
  }

  free(connection: Connection): void {
    const idle = this.#idle.get(connection.origin) ?? [];
    this.#idle.set(connection.origin, idle);
    idle.push({ connection, since: this.#clock.monotonic() });
    if (idle.length > idleConnectionsPerOrigin) idle.shift()?.connection.close();
  }

  gone(connection: Connection): void {
    const idle = this.#idle.get(connection.origin) ?? [];
    const at = idle.findIndex((one) => one.connection === connection);
    if (at !== -1) idle.splice(at, 1);
  }

  /** If the youngest is too old, all are: the provider is about to close them, or a device on the way has dropped them. */
  #takeIdle(origin: string): Connection | null {
    const idle = this.#idle.get(origin);
    const last = idle?.pop();
    if (last === undefined) return null;
    if (this.#clock.monotonic() - last.since <= idleConnectionMsMax) return last.connection;
    for (const { connection } of [last, ...(idle?.splice(0) ?? [])]) connection.close();
    return null;
  }
}

// The bytes of a request

/** The bytes that all requests to one URL share. */
interface Destination {
  origin: string;
  /** Request line and host. */
  beginning: string;
}

/** A URL object computes its parts on each access, so they are kept. */
const destinations = new WeakMap<URL, Destination>();

/** @param url must not change afterwards */
export function destinationOf(url: URL): Destination {
  const known = destinations.get(url);
  if (known) return known;
  const beginning = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  const made = { origin: url.origin, beginning };
  destinations.set(url, made);
  return made;
}

const unfit = /[^\t\x20-\x7e]/;

/** The headers that every request has, by what it accepts. One text, since joining many short ones costs more than the rest. */
const commonLines = {
  "application/json": linesFor("application/json"),
  "text/event-stream": linesFor("text/event-stream"),
};

/** @throws TypeError if a header has a line break; the message names the header, never its value */
export function requestHead({ beginning }: Destination, { accept = "application/json", headers, body }: Post): string {
  let text = beginning + commonLines[accept];
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (unfit.test(value)) throw new TypeError(`Cannot send the header "${name}": it holds what no header may`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
}

function linesFor(accept: string): string {
  return `content-type: application/json\r\naccept: ${accept}\r\naccept-encoding: identity\r\nuser-agent: weir\r\n`;
}

// One connection (TCP, or TLS for https), and its call

/** Keeps connections between calls. */
interface ConnectionPool {
  /** The connection can carry another call. */
  free(connection: Connection): void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}

interface HttpRequest extends Pick<Post, "body"> {
  head: string;
}

/** It carries one call at a time. */
class Connection implements Carrier {
  readonly origin: string;
  readonly #socket: Socket;
  readonly #keeper: ConnectionPool;
  readonly #clock: Clock;
  #open = false;
  /** The request of a call that waits until the connection is open. */
  #unsent: HttpRequest | null = null;
  #call: HttpCall | null = null;
  #reader: AnswerReader | null = null;
  #carried = 0;
  /** Monotonic milliseconds: when the connection received the call's request. */
  #carriesSince = 0;
  /** Part of the response has arrived, so the connection was not stale. */
  #heard = false;
  #error: Error | null = null;

  constructor(url: URL, keeper: ConnectionPool, clock: Clock) {
    this.origin = url.origin;
    this.#keeper = keeper;
    this.#clock = clock;
    this.#socket = socketTo(url);
    this.#socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => this.#opened());
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#socket.on("end", () => this.#reader?.closed());
    this.#socket.on("error", (error) => (this.#error ??= error));
    this.#socket.on("close", () => this.#closed());
  }

  carry(request: HttpRequest): HttpCall {
    const call = new HttpCall(this, this.#open);
    this.#call = call;
    this.#reader = new AnswerReader(call);
    this.#heard = false;
    this.#carriesSince = this.#clock.monotonic();
    if (this.#open) this.#send(request);
    else this.#unsent = request;
    return call;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  release(keeps: boolean): void {
    this.#call = null;
    this.#reader = null;
    this.#carried++;
    if (keeps) this.#keeper.free(this);
    else this.close();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** A waiting caller is notified of the connection just before the request leaves: from then on the provider may bill it. */
  #opened(): void {
    this.#open = true;
    const request = this.#unsent;
    this.#unsent = null;
    this.#call?.connected();
    if (request !== null) queueMicrotask(() => this.#socket.destroyed || this.#send(request));
  }

  /** A text is joined to its head, and bytes are not: to copy them takes longer than a second write. */
  #send({ head, body }: HttpRequest): void {
    if (typeof body !== "string") this.#socket.write(head);
    this.#socket.write(typeof body === "string" ? head + body : body);
  }

  #take(bytes: Buffer): void {
    this.#heard = true;
    // Bytes that arrive between calls could be mistaken for the next response, so the connection is closed.
    if (this.#reader === null) return this.close();
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#error ??= error instanceof Error ? error : new Error("reading failed", { cause: error });
      this.close();
    }
  }

  #closed(): void {
    this.#keeper.gone(this);
    this.#call?.fail(this.#wasStale() ? new StaleConnectionError() : (this.#error ?? new ConnectionClosedError()));
  }

  /**
   * Providers close idle connections, sometimes just as a request is sent. After more time the provider had the request and may
   * have worked on it.
   */
  #wasStale(): boolean {
    if (this.#carried === 0 || this.#heard) return false;
    return this.#clock.monotonic() - this.#carriesSince <= staleConnectionMsMax;
  }
}

/** The operations of a connection that a call uses. */
interface Carrier {
  pause(): void;
  resume(): void;
  /** The response has ended. */
  release(keeps: boolean): void;
  close(): void;
}

/** One request on a connection and its response. */
export class HttpCall implements TransportCall, AnswerParts {
  readonly #carrier: Carrier;
  #connecting: PromiseWithResolvers<void> | null;
  #answering: PromiseWithResolvers<ResponseHead> | null = null;
  #receiver: BytesReceiver | null = null;
  /** Arrived before the caller asked for it. */
  #head: ResponseHead | null = null;
  /** What arrived before the caller asked for it. */
  readonly #ahead = new GatheredBytes();
  #paused = false;
  #over = false;
  #failure: Error | null = null;

  constructor(carrier: Carrier, connected: boolean) {
    this.#carrier = carrier;
    this.#connecting = connected ? null : Promise.withResolvers();
  }

  get connecting(): Promise<void> | null {
    return this.#connecting?.promise ?? null;
  }

  head(): Promise<ResponseHead> {
    if (this.#head !== null) return Promise.resolve(this.#head);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#answering = Promise.withResolvers();
    return this.#answering.promise;
  }

  read(receiver: BytesReceiver): void {
    if (this.#ahead.length > 0) receiver.take(this.#takeAhead());
    else if (this.#failure !== null) receiver.fail(this.#failure);
    else if (this.#over) receiver.take(null);
    else this.#receiver = receiver;
  }

  end(reason: Error): void {
    if (this.#over) return;
    this.#ahead.take();
    this.fail(reason);
    this.#carrier.close();
  }

  connected(): void {
    this.#connecting?.resolve();
    this.#connecting = null;
  }

  /** Delivers the head and drops it: a stream may stay open for long. */
  begun(head: ResponseHead): void {
    if (this.#answering === null) this.#head = head;
    this.#answering?.resolve(head);
    this.#answering = null;
  }

  piece(bytes: Uint8Array): void {
    const receiver = this.#takeReceiver();
    if (receiver !== null) return receiver.take(bytes);
    this.#ahead.add(bytes);
    if (this.#ahead.length > upstreamReadAheadBytesMax) this.#pause(true);
  }

  ended(keeps: boolean): void {
    this.#over = true;
    this.#pause(false);
    this.#carrier.release(keeps);
    this.#takeReceiver()?.take(null);
  }

  /** The connection is gone. Pieces that arrived before can still be read. */
  fail(reason: Error): void {
    if (this.#over || this.#failure !== null) return;
    this.#failure = reason;
    this.#connecting?.reject(reason);
    this.#answering?.reject(reason);
    this.#takeReceiver()?.fail(reason);
  }

  #takeReceiver(): BytesReceiver | null {
    const receiver = this.#receiver;
    this.#receiver = null;
    return receiver;
  }

  #takeAhead(): Uint8Array {
    const bytes = this.#ahead.take();
    this.#pause(false);
    return bytes;
  }

  #pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#carrier.pause();
    else this.#carrier.resume();
  }
}

function socketTo(url: URL): Socket {
  const secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (secure ? 443 : 80);
  if (!secure) return connectTcp({ host, port, noDelay: true });
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...named, ALPNProtocols: ["http/1.1"] }).setNoDelay(true);
}
