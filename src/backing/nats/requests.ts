/**
 * Requests to a service, both ends. The client chooses the server, where NATS would choose any member of a queue group. So one frozen
 * server delays a few requests by 100 ms instead of its whole share by their deadline. Servers are known by their heartbeats. A message
 * goes round robin to one with room for it. After 100 ms without a reply the same bytes go to a second server, once, and the first gets no
 * more until it is heard; after the deadline the outcome is unknown. Requests that no server takes wait within a bound, and are refused at
 * once after a second without any heartbeat.
 */
import { createInbox, type Msg } from "nats";
import { type Clock, withDeadline } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { BusTimeoutError, BusUnavailableError, type Reply, type Service } from "../bus.ts";
import {
  admissionDeadlineMs,
  admissionResendMs,
  busPayloadBytesMax,
  busRequestsWaitingMax,
  busSilenceMsMax,
  busTickMs,
  messagesInFlightPerWorker,
  workerSilenceMsMax,
  busRepliesInFlightMax,
} from "../limits.ts";
import { type NatsLink, requestHeartbeatSubject, requestSubject } from "./link.ts";
import { readHeartbeat, everyTick, ticksOf, Membership, startHeartbeat } from "./membership.ts";

interface Attempt {
  server: string;
  ticks: number;
  /** No longer counted as in flight: no reply for 100 ms, its server left, or the link was down. */
  late: boolean;
}

interface PendingRequest {
  token: string;
  payload: Uint8Array;
  /** On the monotonic clock. */
  deadline: number;
  /** At most two. */
  attempts: Attempt[];
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const noResponders = 503;
const lateTicks = ticksOf(admissionResendMs);
const unservedTicksMax = ticksOf(busSilenceMsMax);

export class RequestClient implements AsyncDisposable {
  readonly #link: NatsLink;
  readonly #service: Service;
  readonly #clock: Clock;
  readonly #pool = new WorkerPool();
  readonly #inbox = createInbox();
  readonly #waiting: PendingRequest[] = [];
  /** Keyed by token. */
  readonly #inFlight = new Map<string, PendingRequest>();
  readonly #stack = new AsyncDisposableStack();
  #count = 0;
  #ticksUp = 0;
  /** When a server was last heard, by the monotonic clock. */
  #heardAt = -Infinity;

  constructor({ link, service, clock }: { link: NatsLink; service: Service; clock: Clock }) {
    this.#link = link;
    this.#service = service;
    this.#clock = clock;
    this.#stack.use(link.watch({ up: () => this.#linkUp(), down: () => this.#linkDown() }));
    this.#stack.use(link.subscribe(requestHeartbeatSubject(service), (message) => this.#heard(message)));
    this.#stack.use(link.subscribe(`${this.#inbox}.*.*`, (message) => this.#replied(message)));
    this.#stack.use(everyTick(clock, () => this.#tick()));
  }

  get width(): number {
    return this.#pool.width;
  }

  /** Also while the link is down. */
  get silentMs(): number {
    return this.#clock.monotonic() - this.#heardAt;
  }

  /** @throws BusUnavailableError, BusTimeoutError; RangeError if the payload is too large */
  request(payload: Uint8Array): Promise<Reply> {
    if (this.#stack.disposed || !this.#link.up) return Promise.reject(new BusUnavailableError("The bus is not connected"));
    if (this.#waiting.length >= busRequestsWaitingMax) {
      return Promise.reject(new BusUnavailableError(`${busRequestsWaitingMax} requests wait for a server already`));
    }
    if (payload.length > busPayloadBytesMax) {
      return Promise.reject(new RangeError(`Cannot send ${payload.length} bytes: the bus takes ${busPayloadBytesMax}`));
    }
    return new Promise((resolve, reject) => {
      const token = (this.#count++).toString(36);
      const deadline = this.#clock.monotonic() + admissionDeadlineMs;
      this.#waiting.push({ token, payload, deadline, attempts: [], resolve, reject });
      this.#sendWaiting();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const request of this.#inFlight.values()) request.reject(new BusTimeoutError("The bus was closed"));
    this.#inFlight.clear();
    this.#refuseWaiting("The bus was closed");
    await this.#stack.disposeAsync();
  }

  #heard(message: Msg): void {
    const { id, leaves } = readHeartbeat(message.data);
    this.#heardAt = this.#clock.monotonic();
    if (leaves) this.#pool.left(id);
    else this.#pool.heard(id);
    this.#sendWaiting();
  }

  #replied(message: Msg): void {
    const [number, token] = message.subject.split(".").toReversed();
    const request = this.#inFlight.get(token ?? "");
    const attempt = request?.attempts[Number(number)];
    if (!request || !attempt) return;
    if (message.headers?.code === noResponders) return this.#notReceived(request, attempt);
    this.#inFlight.delete(request.token);
    for (const { server, late } of request.attempts) if (!late) this.#pool.replied(server);
    request.resolve({ payload: message.data, resent: request.attempts.length > 1 });
    this.#sendWaiting();
  }

  /** That server is gone. If no second server has the request, it was certainly not received and waits again. */
  #notReceived(request: PendingRequest, attempt: Attempt): void {
    this.#pool.left(attempt.server);
    if (request.attempts.length > 1) {
      attempt.late = true;
      return;
    }
    this.#inFlight.delete(request.token);
    this.#waiting.unshift({ ...request, token: (this.#count++).toString(36), attempts: [] });
    this.#sendWaiting();
  }

  #tick(): void {
    this.#ticksUp = this.#link.up ? this.#ticksUp + 1 : 0;
    this.#pool.tick();
    const now = this.#clock.monotonic();
    for (const request of this.#inFlight.values()) this.#review(request, now);
    // A request that was put back is at the front, whatever its deadline.
    for (const request of this.#waiting.splice(0)) {
      if (request.deadline > now) this.#waiting.push(request);
      else request.reject(new BusUnavailableError(`No server of "${this.#service}" had room in time`));
    }
    this.#sendWaiting();
  }

  /** After 100 ms the same bytes go to a second server, once. After the deadline the outcome is unknown. */
  #review(request: PendingRequest, now: number): void {
    if (request.deadline <= now) {
      this.#inFlight.delete(request.token);
      for (const { server, late } of request.attempts) if (!late) this.#pool.late(server);
      request.reject(new BusTimeoutError(`No reply of "${this.#service}" within ${admissionDeadlineMs} ms`));
      return;
    }
    for (const attempt of request.attempts) {
      if (attempt.late || ++attempt.ticks < lateTicks) continue;
      attempt.late = true;
      this.#pool.late(attempt.server);
    }
    const [first, second] = request.attempts;
    if (first?.late && !second && this.#link.up) this.#send(request, this.#pool.take(first.server));
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#link.up) {
      const server = this.#pool.take();
      if (server === null) break;
      const request = this.#waiting.shift();
      if (request) this.#send(request, server);
    }
    if (this.#waiting.length === 0) return;
    if (!this.#link.up) this.#refuseWaiting("The bus is not connected");
    else if (this.#pool.empty && this.#ticksUp > unservedTicksMax) this.#refuseWaiting(`No process serves "${this.#service}"`);
  }

  #send(request: PendingRequest, server: string | null): void {
    if (server === null) return;
    const reply = `${this.#inbox}.${request.token}.${request.attempts.length}`;
    request.attempts.push({ server, ticks: 0, late: false });
    this.#inFlight.set(request.token, request);
    this.#link.publish(requestSubject(this.#service, server), request.payload, reply);
  }

  #refuseWaiting(reason: string): void {
    for (const request of this.#waiting.splice(0)) request.reject(new BusUnavailableError(reason));
  }

  #linkDown(): void {
    this.#pool.clear();
    this.#sendWaiting();
  }

  /** Requests and replies may be lost. Each request that was sent once is sent again, to the first server that is heard. */
  #linkUp(): void {
    this.#ticksUp = 0;
    for (const { attempts } of this.#inFlight.values()) {
      for (const attempt of attempts) Object.assign(attempt, { server: "", late: true });
    }
  }
}

const silentTicksMax = Math.ceil(workerSilenceMsMax / busTickMs);

interface Server {
  /** Messages that have no reply and are not given up. */
  inFlight: number;
  /** It left a message without a reply and has not been heard since. */
  passedOver: boolean;
}

/** The servers of one service. It chooses the next message's server: round robin, with a bound on the messages in flight to each. */
export class WorkerPool {
  readonly #membership = new Membership(Math.ceil(busSilenceMsMax / busTickMs));
  /** In round-robin order: the server of the last message goes last. */
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

  /** A message to this server has been answered. */
  replied(id: string): void {
    const server = this.#servers.get(id);
    if (server) server.inFlight = Math.max(0, server.inFlight - 1);
  }

  /** A message to this server is late, so it gets no further ones until it is heard again. */
  late(id: string): void {
    this.replied(id);
    const server = this.#servers.get(id);
    if (server) server.passedOver = true;
  }

  #isAvailable(id: string, server: Server): boolean {
    return !server.passedOver && this.#membership.silentTicks(id) <= silentTicksMax;
  }
}

// The server

interface RequestServerParts {
  link: NatsLink;
  service: Service;
  handler: (payload: Uint8Array) => Promise<Uint8Array>;
  /** When it resolves, heartbeats begin. */
  ready: Promise<void>;
  clock: Clock;
  log: Logger;
}

/**
 * Serves requests under its own subject while it sends heartbeats. Replies until disposed: then it says goodbye, and completes the requests
 * that it has received.
 */
export function startRequestServer({ link, service, handler, ready, clock, log }: RequestServerParts): AsyncDisposable {
  const id = newInternalId(clock.now());
  const inFlight = new Set<Promise<void>>();
  const replyTo = async (request: Msg): Promise<void> => {
    try {
      link.publish(request.reply ?? "", await handler(request.data));
    } catch (error) {
      log.error({ event: "bus.answer.failed", service, reason: String(error) });
    }
  };
  const subscription = link.subscribe(requestSubject(service, id), (request) => {
    // Above the bound a request gets no reply, and its client tries another server: a reply would come too late anyway.
    if (inFlight.size >= busRepliesInFlightMax) return;
    const replying = replyTo(request).finally(() => inFlight.delete(replying));
    inFlight.add(replying);
  });
  const heartbeats = new DisposableStack();
  const announce = (): void => {
    if (!heartbeats.disposed) heartbeats.use(startHeartbeat({ link, clock, subject: requestHeartbeatSubject(service), id }));
  };
  void ready.then(announce);
  return {
    async [Symbol.asyncDispose]() {
      heartbeats.dispose();
      await subscription[Symbol.asyncDispose]();
      await withDeadline(clock, admissionDeadlineMs, "Replying to requests", Promise.all(inFlight)).catch(() => {});
    },
  };
}
