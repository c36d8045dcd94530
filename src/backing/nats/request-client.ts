/**
 * Requests to a service. The client chooses the server, where NATS would choose any member of a queue group: so one frozen
 * server delays a few requests by 100 ms instead of its share of all of them by their deadline.
 */
import { createInbox, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import { admissionDeadlineMs, admissionResendMs, busPayloadBytesMax, busRequestsWaitingMax, busSilenceMsMax } from "../limits.ts";
import { BusTimeoutError, BusUnavailableError, type Reply, type Service } from "../bus.ts";
import { readHeartbeat } from "./heartbeat.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { NatsLink } from "./nats-link.ts";
import { requestHeartbeatSubject, requestSubject } from "./subjects.ts";
import { everyTick, ticksOf } from "./ticker.ts";

interface Attempt {
  server: string;
  ticks: number;
  /** No longer counted as in flight: no reply for 100 ms, its server left, or the link was down. */
  late: boolean;
}

interface PendingRequest {
  token: string;
  payload: Uint8Array;
  /** Of the monotonic clock. */
  deadline: number;
  /** At most two. */
  attempts: Attempt[];
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const noResponders = 503;
const lateTicks = ticksOf(admissionResendMs);
const silentTicksMax = ticksOf(busSilenceMsMax);

export class RequestClient implements AsyncDisposable {
  readonly #link: NatsLink;
  readonly #service: Service;
  readonly #clock: Clock;
  readonly #pool = new WorkerPool();
  readonly #inbox = createInbox();
  readonly #waiting: PendingRequest[] = [];
  /** By token. */
  readonly #inFlight = new Map<string, PendingRequest>();
  readonly #stack = new AsyncDisposableStack();
  #count = 0;
  #ticksUp = 0;
  /** When a server was last heard, of the monotonic clock. */
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

  /** That server is gone. Where no second server has the request, it was certainly not received and waits again. */
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
    else if (this.#pool.empty && this.#ticksUp > silentTicksMax) this.#refuseWaiting(`No process serves "${this.#service}"`);
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
