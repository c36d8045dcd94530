/**
 * A connection to an origin (TCP, or TLS for https) and the one call that it carries. Bytes are kept until the caller reads them, with a
 * bounded read-ahead; then the socket is paused, so that a slow reader slows its provider down. A connection is kept for the next call only
 * if the response ended by its framing and nothing came after it.
 */
import type { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../../../kernel/clock.ts";
import { staleConnectionMsMax, upstreamReadAheadBytesMax } from "../../limits.ts";
import { AnswerReader, ConnectionClosedError, type AnswerParts } from "./answer-reader.ts";
import { GatheredBytes } from "../../../http/gathered-bytes.ts";
import { StaleConnectionError, type BytesReceiver, type ResponseHead, type TransportCall } from "./transport.ts";

/** Keeps connections between calls. */
export interface ConnectionPool {
  /** The connection can carry another call. */
  free(connection: Connection): void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}

/** It carries one call at a time. */
export class Connection implements Carrier {
  readonly origin: string;
  readonly #socket: Socket;
  readonly #keeper: ConnectionPool;
  readonly #clock: Clock;
  #open = false;
  /** The request of a call that waits until the connection is open. */
  #unsent: string | null = null;
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

  /** @param request its bytes on the wire */
  carry(request: string): HttpCall {
    const call = new HttpCall(this, this.#open);
    this.#call = call;
    this.#reader = new AnswerReader(call);
    this.#heard = false;
    this.#carriesSince = this.#clock.monotonic();
    if (this.#open) this.#socket.write(request);
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

  /** A waiting caller hears of the connection just before the request leaves: from then on the provider may bill it. */
  #opened(): void {
    this.#open = true;
    const request = this.#unsent;
    this.#unsent = null;
    this.#call?.connected();
    if (request !== null) queueMicrotask(() => this.#socket.destroyed || this.#socket.write(request));
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
