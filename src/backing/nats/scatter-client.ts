/** Sends a request to all processes at once. Those that serve it send heartbeats, so the client knows whose replies it waits for. */
import { createInbox, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import { busSilenceMsMax, scatterListenMs, scatterServerMemoryMs } from "../limits.ts";
import { BusTimeoutError, BusUnavailableError, type ScatterService } from "../bus.ts";
import { readHeartbeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { Membership } from "./membership.ts";
import { scatterHeartbeatSubject, scatterSubject } from "./subjects.ts";
import { everyTick, ticksOf } from "./ticker.ts";

interface Round {
  /** By the id of the server. */
  replies: Map<string, Uint8Array>;
  check(): void;
  reject(error: Error): void;
}

/** After so many ticks of listening every live server has been heard; after so many more it is certain that there is no other. */
const heardTicks = ticksOf(scatterListenMs);
const acquaintedTicks = ticksOf(busSilenceMsMax);

export class ScatterClient implements AsyncDisposable {
  readonly #link: NatsLink;
  readonly #service: ScatterService;
  readonly #clock: Clock;
  readonly #servers = new Membership(ticksOf(scatterServerMemoryMs));
  readonly #inbox = createInbox();
  readonly #rounds = new Map<string, Round>();
  readonly #stack = new AsyncDisposableStack();
  readonly #acquainted = Promise.withResolvers<void>();
  #count = 0;
  #ticksUp = 0;

  constructor({ link, service, clock }: { link: NatsLink; service: ScatterService; clock: Clock }) {
    this.#link = link;
    this.#service = service;
    this.#clock = clock;
    this.#stack.use(link.watch({ up: () => void (this.#ticksUp = 0), down: () => this.#linkDown() }));
    this.#stack.use(link.subscribe(scatterHeartbeatSubject(service), (message) => this.#heard(message)));
    this.#stack.use(link.subscribe(`${this.#inbox}.*.*`, (message) => this.#replied(message)));
    this.#stack.use(everyTick(clock, () => this.#tick()));
  }

  /** Resolves as soon as it has listened for so long that it can scatter requests. */
  get acquainted(): Promise<void> {
    return this.#acquainted.promise;
  }

  /**
   * @throws BusUnavailableError when the link is down or goes down, or has just come up: an empty result would look as if there
   * were no server
   * @throws BusTimeoutError when a server that was heard recently does not reply: the result would lack its data
   */
  async scatter(payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    const replies = await this.#gather(payload, waitMs);
    if (!this.#knownReplied(replies)) throw new BusTimeoutError(`A known server of "${this.#service}" did not reply`);
    return [...replies.values()];
  }

  /** @returns the replies that came in time @throws BusUnavailableError as `scatter` does */
  async survey(payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    return [...(await this.#gather(payload, waitMs)).values()];
  }

  async #gather(payload: Uint8Array, waitMs: number): Promise<Round["replies"]> {
    if (!this.#link.up) throw new BusUnavailableError("The bus is not connected");
    if (this.#ticksUp < heardTicks) throw new BusUnavailableError("The bus has not yet heard which processes are there");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const token = (this.#count++).toString(36);
    const replies: Round["replies"] = new Map();
    this.#rounds.set(token, { replies, check: () => this.#allReplied(replies) && resolve(), reject });
    const cancel = this.#clock.after(waitMs, resolve);
    try {
      this.#link.publish(scatterSubject(this.#service), payload, `${this.#inbox}.${token}`);
      if (this.#allReplied(replies)) resolve();
      await promise;
      return replies;
    } finally {
      cancel();
      this.#rounds.delete(token);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#linkDown();
    await this.#stack.disposeAsync();
  }

  #allReplied(replies: Round["replies"]): boolean {
    return this.#ticksUp > acquaintedTicks && this.#knownReplied(replies);
  }

  #knownReplied(replies: Round["replies"]): boolean {
    return this.#servers.ids.every((id) => replies.has(id));
  }

  #heard(message: Msg): void {
    const { id, leaves } = readHeartbeat(message.data);
    if (leaves) this.#servers.left(id);
    else this.#servers.heard(id);
  }

  #replied(message: Msg): void {
    const [id = "", token = ""] = message.subject.split(".").toReversed();
    const round = this.#rounds.get(token);
    round?.replies.set(id, message.data);
    round?.check();
  }

  /** While the link is down no server can be heard: those known before are still expected when it is up again. */
  #tick(): void {
    if (!this.#link.up) return;
    if (++this.#ticksUp >= heardTicks) this.#acquainted.resolve();
    this.#servers.tick();
  }

  #linkDown(): void {
    for (const { reject } of this.#rounds.values()) {
      reject(new BusUnavailableError("The bus disconnected before every server replied"));
    }
  }
}
