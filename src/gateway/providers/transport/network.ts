/**
 * The network transport. It keeps connections between calls and reuses the most recent one first, so that surplus connections age and
 * close; one that is too old is not used, since the provider is about to close it. It does not use fetch: Bun's fetch passes every piece
 * from a separate thread, holds 64 KiB per stream and up to 3 MiB of an unread one, and does not report connecting.
 */
import { Buffer } from "node:buffer";
import type { Clock } from "../../../kernel/clock.ts";
import { idleConnectionMsMax, idleConnectionsPerOrigin } from "../../limits.ts";
import { Connection, type ConnectionPool } from "./connection.ts";
import type { Post, PostOptions, Transport, TransportCall } from "./transport.ts";

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
    const request = requestText(destination, post);
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

/** What all requests to one URL share. */
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
export function requestText({ beginning }: Destination, { accept = "application/json", headers, body }: Post): string {
  let text = beginning + commonLines[accept];
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (unfit.test(value)) throw new TypeError(`Cannot send the header "${name}": it holds what no header may`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function linesFor(accept: string): string {
  return `content-type: application/json\r\naccept: ${accept}\r\naccept-encoding: identity\r\nuser-agent: weir\r\n`;
}
