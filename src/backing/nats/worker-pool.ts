/** The servers of one service, and which of them the next message goes to: in turn, at most so many messages to each. */
import { busSilenceMsMax, busTurnMs, messagesInFlightPerWorker, workerSilenceMsMax } from "../limits.ts";
import { Roster } from "./membership.ts";

const silentTurnsMax = Math.ceil(workerSilenceMsMax / busTurnMs);

interface Server {
  /** Messages that are not answered and not given up on. */
  inFlight: number;
  /** Left a message unanswered and was not heard since. */
  passedOver: boolean;
}

export class Crew {
  readonly #roster = new Roster(Math.ceil(busSilenceMsMax / busTurnMs));
  /** In the order of turns: who was given a message goes last. */
  readonly #servers = new Map<string, Server>();

  /** Nobody was heard for a second. */
  get empty(): boolean {
    return this.#servers.size === 0;
  }

  /** How many messages may be in flight now; at least 1. */
  get width(): number {
    let width = 0;
    for (const [id, server] of this.#servers) if (this.#inTurn(id, server)) width += messagesInFlightPerWorker;
    return Math.max(1, width);
  }

  heard(id: string): void {
    this.#roster.heard(id);
    const server = this.#servers.get(id);
    if (server) server.passedOver = false;
    else this.#servers.set(id, { inFlight: 0, passedOver: false });
  }

  left(id: string): void {
    this.#roster.left(id);
    this.#servers.delete(id);
  }

  clear(): void {
    this.#roster.clear();
    this.#servers.clear();
  }

  turn(): void {
    this.#roster.turn();
    for (const id of this.#servers.keys())
      if (this.#roster.silentTurns(id) === Number.POSITIVE_INFINITY) this.#servers.delete(id);
  }

  /**
   * Who takes the next message, which is then in flight to it; null: nobody can at present.
   * @param except who has had it; it may then go to a server that has its full share
   */
  take(except: string | null = null): string | null {
    for (const [id, server] of this.#servers) {
      if (id === except || !this.#inTurn(id, server)) continue;
      if (except === null && server.inFlight >= messagesInFlightPerWorker) continue;
      server.inFlight++;
      this.#servers.delete(id);
      this.#servers.set(id, server);
      return id;
    }
    return null;
  }

  /** A message to this server is answered. */
  answered(id: string): void {
    const server = this.#servers.get(id);
    if (server) server.inFlight = Math.max(0, server.inFlight - 1);
  }

  /** A message to this server is late: it gets no further ones until it is heard again. */
  late(id: string): void {
    this.answered(id);
    const server = this.#servers.get(id);
    if (server) server.passedOver = true;
  }

  #inTurn(id: string, server: Server): boolean {
    return !server.passedOver && this.#roster.silentTurns(id) <= silentTurnsMax;
  }
}
