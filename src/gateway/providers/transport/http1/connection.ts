/** A connection to an origin: TCP, or TLS for https. It carries one call at a time. */
import type { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../../../../kernel/clock.ts";
import { staleConnectionMsMax } from "../../../limits.ts";
import { StaleConnectionError } from "../transport.ts";
import { AnswerReader } from "./answer-reader.ts";
import { HttpCall, type Carrier } from "./call.ts";
import { ConnectionClosedError } from "./errors.ts";

/** Keeps connections between calls. */
export interface ConnectionPool {
  /** The connection can carry another call. */
  free(connection: Connection): void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}

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

  /** Who waits for the connection hears of it just before the request leaves: from then on the provider may bill it. */
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

function socketTo(url: URL): Socket {
  const secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (secure ? 443 : 80);
  if (!secure) return connectTcp({ host, port, noDelay: true });
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...named, ALPNProtocols: ["http/1.1"] }).setNoDelay(true);
}
