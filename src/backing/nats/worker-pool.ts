/** The servers of one service. It chooses the next message's server: round robin, with a bound on the messages in flight to each. */
import { busSilenceMsMax, busTickMs, messagesInFlightPerWorker, workerSilenceMsMax } from "../limits.ts";
import { Membership } from "./membership.ts";

const silentTicksMax = Math.ceil(workerSilenceMsMax / busTickMs);

interface Server {
  /** Messages that have no reply and are not given up. */
  inFlight: number;
  /** It left a message without a reply and was not heard since. */
  passedOver: boolean;
}

export class WorkerPool {
  readonly #membership = new Membership(Math.ceil(busSilenceMsMax / busTickMs));
  /** In the order of the round: the server of the last message goes last. */
  readonly #servers = new Map<string, Server>();

  /** No server was heard for a second. */
  get empty(): boolean {
    return this.#servers.size === 0;
  }

  /** How many messages may be in flight now; at least 1. */
  get width(): number {
    let width = 0;
    for (const [id, server] of this.#servers) if (this.#isAvailable(id, server)) width += messagesInFlightPerWorker;
    return Math.max(1, width);
  }

  heard(id: string): void {
    this.#membership.heard(id);
    const server = this.#servers.get(id);
    if (server) server.passedOver = false;
    else this.#servers.set(id, { inFlight: 0, passedOver: false });
  }

  left(id: string): void {
    this.#membership.left(id);
    this.#servers.delete(id);
  }

  clear(): void {
    this.#membership.clear();
    this.#servers.clear();
  }

  tick(): void {
    this.#membership.tick();
    for (const id of this.#servers.keys())
      if (this.#membership.silentTicks(id) === Number.POSITIVE_INFINITY) this.#servers.delete(id);
  }

  /**
   * Chooses the server of the next message, which is then in flight to it; null: no server is available at present.
   * @param except the server that already has the message, which may then go to a server with its full share
   */
  take(except: string | null = null): string | null {
    for (const [id, server] of this.#servers) {
      if (id === except || !this.#isAvailable(id, server)) continue;
      if (except === null && server.inFlight >= messagesInFlightPerWorker) continue;
      server.inFlight++;
      this.#servers.delete(id);
      this.#servers.set(id, server);
      return id;
    }
    return null;
  }

  /** A message to this server has its reply. */
  replied(id: string): void {
    const server = this.#servers.get(id);
    if (server) server.inFlight = Math.max(0, server.inFlight - 1);
  }

  /** A message to this server is late: it gets no further ones until it is heard again. */
  late(id: string): void {
    this.replied(id);
    const server = this.#servers.get(id);
    if (server) server.passedOver = true;
  }

  #isAvailable(id: string, server: Server): boolean {
    return !server.passedOver && this.#membership.silentTicks(id) <= silentTicksMax;
  }
}
