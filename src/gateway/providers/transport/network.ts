/**
 * The network as a transport. Connections are kept between calls and used in turn, the last one first, so that those which are
 * too many grow old. Not fetch: on Bun it moves every piece from a thread of its own, holds 64 KiB a stream and up to 3 MiB of
 * one that nobody reads, and tells nothing of connecting.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { idleConnectionMsMax, idleConnectionsPerOrigin } from "../../limits.ts";
import { Connection, type ConnectionPool } from "./http1/connection.ts";
import { destinationOf, requestText } from "./http1/request.ts";
import type { Post, PostOptions, Transport, TransportCall } from "./transport.ts";

const networks = new WeakMap<Clock, Network>();

/** One for each clock, hence one in a process: calls share their connections. */
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
  /** By origin, of which the catalog's providers bound the number; the last one used stands last. */
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

  /** Where the youngest is too old, all are: their provider is about to close them, or something in between has forgotten them. */
  #takeIdle(origin: string): Connection | null {
    const idle = this.#idle.get(origin);
    const last = idle?.pop();
    if (last === undefined) return null;
    if (this.#clock.monotonic() - last.since <= idleConnectionMsMax) return last.connection;
    for (const { connection } of [last, ...(idle?.splice(0) ?? [])]) connection.close();
    return null;
  }
}
