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

interface Sending {
  server: string;
  ticks: number;
  /** Without a reply for 100 ms: no longer counted as in flight. */
  late: boolean;
}

interface PendingRequest {
  token: string;
  payload: Uint8Array;
  /** Of the monotonic clock. */
  deadline: number;
  /** At most two. */
  sendings: Sending[];
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

  /** @throws BusUnavailableError, BusTimeoutError */
  request(payload: Uint8Array): Promise<Reply> {
    if (!this.#link.up) return Promise.reject(new BusUnavailableError("The bus is not connected"));
    if (this.#waiting.length >= busRequestsWaitingMax) {
      return Promise.reject(new BusUnavailableError(`${busRequestsWaitingMax} requests wait for a server already`));
    }
    if (payload.length > busPayloadBytesMax) {
      return Promise.reject(new RangeError(`Cannot send ${payload.length} bytes: the bus takes ${busPayloadBytesMax}`));
    }
    return new Promise((resolve, reject) => {
      const token = (this.#count++).toString(36);
      const deadline = this.#clock.monotonic() + admissionDeadlineMs;
      this.#waiting.push({ token, payload, deadline, sendings: [], resolve, reject });
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
    if (leaves) this.#pool.left(id);
    else this.#pool.heard(id);
    this.#sendWaiting();
  }

  #replied(message: Msg): void {
    const [number, token] = message.subject.split(".").toReversed();
    const request = this.#inFlight.get(token ?? "");
    const sending = request?.sendings[Number(number)];
    if (!request || !sending) return;
    if (message.headers?.code === noResponders) return this.#notReceived(request, sending);
    this.#inFlight.delete(request.token);
    for (const { server, late } of request.sendings) if (!late) this.#pool.replied(server);
    request.resolve({ payload: message.data, resent: request.sendings.length > 1 });
    this.#sendWaiting();
  }

  /** That server is gone. Where no second server has the request, it was certainly not received and waits again. */
  #notReceived(request: PendingRequest, sending: Sending): void {
    this.#pool.left(sending.server);
    if (request.sendings.length > 1) {
      sending.late = true;
      return;
    }
    this.#inFlight.delete(request.token);
    this.#waiting.unshift({ ...request, token: (this.#count++).toString(36), sendings: [] });
    this.#sendWaiting();
  }

  #tick(): void {
    this.#ticksUp = this.#link.up ? this.#ticksUp + 1 : 0;
    this.#pool.tick();
    const now = this.#clock.monotonic();
    for (const request of this.#inFlight.values()) this.#review(request, now);
    this.#sendWaiting();
    while (this.#waiting[0] && this.#waiting[0].deadline <= now) {
      this.#waiting.shift()?.reject(new BusUnavailableError(`No server of "${this.#service}" had room in time`));
    }
  }

  /** After 100 ms the same bytes go to a second server, once. After the deadline the outcome is unknown. */
  #review(request: PendingRequest, now: number): void {
    if (request.deadline <= now) {
      this.#inFlight.delete(request.token);
      for (const { server, late } of request.sendings) if (!late) this.#pool.late(server);
      request.reject(new BusTimeoutError(`No reply of "${this.#service}" within ${admissionDeadlineMs} ms`));
      return;
    }
    for (const sending of request.sendings) {
      if (sending.late || ++sending.ticks < lateTicks) continue;
      sending.late = true;
      this.#pool.late(sending.server);
    }
    const [first, second] = request.sendings;
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
    const reply = `${this.#inbox}.${request.token}.${request.sendings.length}`;
    request.sendings.push({ server, ticks: 0, late: false });
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

  /** The request or its reply may be lost: each goes once more, to the first server that is heard. */
  #linkUp(): void {
    this.#ticksUp = 0;
    for (const { sendings } of this.#inFlight.values()) {
      for (const sending of sendings) Object.assign(sending, { server: "", late: true });
    }
  }
}
