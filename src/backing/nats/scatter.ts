/**
 * A question to all processes at once, both ends. Those that serve it send heartbeats, so the client knows whose replies it waits for, and
 * an answer that lacks one of them is an error: the result would lack its data. A survey may lack some, and waits for a silent server once.
 * A process that has listened for less than half a second does not know all others yet, and asks none.
 *
 * The client waits for a server that fell silent without a goodbye until a successor has its data, for three seconds at most. A supervisor
 * has that long to start one, and without one the service recovers within five seconds.
 */
import { createInbox, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { BusTimeoutError, BusUnavailableError, type ScatterMember, type ScatterService } from "../bus.ts";
import { busSilenceMsMax, scatterListenMs, scatterServerMemoryMs } from "../limits.ts";
import { type NatsLink, scatterHeartbeatSubject, scatterSubject } from "./link.ts";
import { readHeartbeat, Membership, everyTick, ticksOf, startHeartbeat } from "./membership.ts";

type ScatterLink = Pick<NatsLink, "up" | "watch" | "publish" | "subscribe">;

interface Round {
  /** Keyed by the server's id. */
  replies: Map<string, Uint8Array>;
  check(): void;
  reject(error: Error): void;
}

interface Wait {
  waitMs: number;
  /** Servers whose replies are not waited for. */
  mayLack: ReadonlySet<string>;
}

/** After this many ticks of listening every live server has been heard; after this many more it is certain that there is no other. */
const heardTicks = ticksOf(scatterListenMs);
const acquaintedTicks = ticksOf(busSilenceMsMax);

export class ScatterClient implements AsyncDisposable {
  readonly #link: ScatterLink;
  readonly #service: ScatterService;
  readonly #clock: Clock;
  readonly #servers = new Membership(ticksOf(scatterServerMemoryMs));
  readonly #inbox = createInbox();
  /** Servers that did not reply to the last survey in time and have not been heard since. */
  #silent = new Set<string>();
  readonly #rounds = new Map<string, Round>();
  readonly #stack = new AsyncDisposableStack();
  readonly #acquainted = Promise.withResolvers<void>();
  #count = 0;
  #ticksUp = 0;

  constructor({ link, service, clock }: { link: ScatterLink; service: ScatterService; clock: Clock }) {
    this.#link = link;
    this.#service = service;
    this.#clock = clock;
    this.#stack.use(link.watch({ up: () => void (this.#ticksUp = 0), down: () => this.#linkDown() }));
    this.#stack.use(link.subscribe(scatterHeartbeatSubject(service), (message) => this.#heard(message)));
    this.#stack.use(link.subscribe(`${this.#inbox}.*.*`, (message) => this.#replied(message)));
    this.#stack.use(everyTick(clock, () => this.#tick()));
  }

  /** Resolves when it has listened long enough to scatter requests. */
  get acquainted(): Promise<void> {
    return this.#acquainted.promise;
  }

  /**
   * @throws BusUnavailableError when the link is down or goes down, or has just come up: an empty result would look as if there
   * were no server
   * @throws BusTimeoutError when a server that was heard recently does not reply: the result would lack its data
   */
  async scatter(payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    const replies = await this.#gather(payload, { waitMs, mayLack: new Set() });
    if (this.#missing(replies).length > 0) throw new BusTimeoutError(`A known server of "${this.#service}" did not reply`);
    return [...replies.values()];
  }

  /**
   * Waits for a silent server once, not each time until it is known to be dead.
   * @returns the replies that came in time
   * @throws BusUnavailableError as `scatter` does
   */
  async survey(payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    const replies = await this.#gather(payload, { waitMs, mayLack: this.#silent });
    this.#silent = new Set(this.#missing(replies));
    return [...replies.values()];
  }

  async #gather(payload: Uint8Array, { waitMs, mayLack }: Wait): Promise<Round["replies"]> {
    if (!this.#link.up) throw new BusUnavailableError("The bus is not connected");
    if (this.#ticksUp < heardTicks) throw new BusUnavailableError("The bus has not yet heard which processes are there");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const token = (this.#count++).toString(36);
    const replies: Round["replies"] = new Map();
    const check = (): void => {
      if (this.#ticksUp > acquaintedTicks && this.#missing(replies).every((id) => mayLack.has(id))) resolve();
    };
    this.#rounds.set(token, { replies, check, reject });
    const cancel = this.#clock.after(waitMs, resolve);
    try {
      this.#link.publish(scatterSubject(this.#service), payload, `${this.#inbox}.${token}`);
      check();
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

  /** The known servers that have not replied. */
  #missing(replies: Round["replies"]): string[] {
    return this.#servers.ids.filter((id) => !replies.has(id));
  }

  #heard(message: Msg): void {
    const { id, leaves, predecessors } = readHeartbeat(message.data);
    this.#silent.delete(id);
    if (leaves) this.#servers.left(id);
    else this.#servers.heard(id);
    for (const dead of predecessors) this.#servers.left(dead);
  }

  #replied(message: Msg): void {
    const [id = "", token = ""] = message.subject.split(".").toReversed();
    const round = this.#rounds.get(token);
    round?.replies.set(id, message.data);
    round?.check();
  }

  /** While the link is down no server can be heard, so those known until then are still expected when it is up again. */
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

interface ScatterServerParts {
  link: NatsLink;
  service: ScatterService;
  handler: (payload: Uint8Array) => Uint8Array;
  member: ScatterMember;
  clock: Clock;
  log: Logger;
}

/** Replies to scattered requests until disposed. */
export function startScatterServer({ link, service, handler, member, clock, log }: ScatterServerParts): Disposable {
  const { id } = member;
  const subscription = link.subscribe(scatterSubject(service), ({ data, reply }) => {
    try {
      link.publish(`${reply}.${id}`, handler(data));
    } catch (error) {
      log.error({ event: "bus.report.failed", service, reason: String(error) });
    }
  });
  const heartbeat = startHeartbeat({ link, clock, subject: scatterHeartbeatSubject(service), ...member });
  return {
    [Symbol.dispose]: () => {
      heartbeat[Symbol.dispose]();
      void subscription[Symbol.asyncDispose]();
    },
  };
}
