/** Questions to a service: the asker, not a queue group, chooses who answers, so that one frozen server stops nobody. */
import { createInbox, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import {
  admissionDeadlineMs,
  admissionResendMs,
  busPayloadBytesMax,
  busSilenceMsMax,
  questionMessagesWaitingMax,
} from "../limits.ts";
import { BusTimeoutError, BusUnavailableError, type Reply, type Service } from "../bus.ts";
import { readBeat } from "./heartbeat.ts";
import { Crew } from "./worker-pool.ts";
import type { NatsLink } from "./nats-link.ts";
import { askSubject, serverBeatSubject } from "./subjects.ts";
import { everyTurn, turnsOf } from "./ticker.ts";

interface Sending {
  server: string;
  turns: number;
  /** Unanswered for 100 ms: no longer counted as in flight. */
  late: boolean;
}

interface Question {
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
const lateTurns = turnsOf(admissionResendMs);
const silentTurnsMax = turnsOf(busSilenceMsMax);

export class Asker implements AsyncDisposable {
  readonly #link: NatsLink;
  readonly #service: Service;
  readonly #clock: Clock;
  readonly #crew = new Crew();
  readonly #inbox = createInbox();
  readonly #waiting: Question[] = [];
  readonly #asked = new Map<string, Question>();
  readonly #stack = new AsyncDisposableStack();
  #count = 0;
  #turnsUp = 0;

  constructor({ link, service, clock }: { link: NatsLink; service: Service; clock: Clock }) {
    this.#link = link;
    this.#service = service;
    this.#clock = clock;
    this.#stack.use(link.watch({ up: () => this.#linkUp(), down: () => this.#linkDown() }));
    this.#stack.use(link.subscribe(serverBeatSubject(service), (message) => this.#heard(message)));
    this.#stack.use(link.subscribe(`${this.#inbox}.*.*`, (message) => this.#answered(message)));
    this.#stack.use(everyTurn(clock, () => this.#turn()));
  }

  get width(): number {
    return this.#crew.width;
  }

  /** @throws BusUnavailableError, BusTimeoutError */
  ask(payload: Uint8Array): Promise<Reply> {
    if (!this.#link.up) return Promise.reject(new BusUnavailableError("The bus is not connected"));
    if (this.#waiting.length >= questionMessagesWaitingMax) {
      return Promise.reject(new BusUnavailableError(`${questionMessagesWaitingMax} questions wait for a server already`));
    }
    if (payload.length > busPayloadBytesMax) {
      return Promise.reject(new RangeError(`Cannot ask with ${payload.length} bytes: the bus takes ${busPayloadBytesMax}`));
    }
    return new Promise((resolve, reject) => {
      const token = (this.#count++).toString(36);
      const deadline = this.#clock.monotonic() + admissionDeadlineMs;
      this.#waiting.push({ token, payload, deadline, sendings: [], resolve, reject });
      this.#sendWaiting();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const question of this.#asked.values()) question.reject(new BusTimeoutError("The bus was closed"));
    this.#asked.clear();
    this.#refuseWaiting("The bus was closed");
    await this.#stack.disposeAsync();
  }

  #heard(message: Msg): void {
    const { id, leaves } = readBeat(message.data);
    if (leaves) this.#crew.left(id);
    else this.#crew.heard(id);
    this.#sendWaiting();
  }

  #answered(message: Msg): void {
    const [number, token] = message.subject.split(".").toReversed();
    const question = this.#asked.get(token ?? "");
    const sending = question?.sendings[Number(number)];
    if (!question || !sending) return;
    if (message.headers?.code === noResponders) return this.#notReceived(question, sending);
    this.#asked.delete(question.token);
    for (const { server, late } of question.sendings) if (!late) this.#crew.answered(server);
    question.resolve({ payload: message.data, resent: question.sendings.length > 1 });
    this.#sendWaiting();
  }

  /** That server is gone; where nobody else has the question, it was certainly not received and waits anew. */
  #notReceived(question: Question, sending: Sending): void {
    this.#crew.left(sending.server);
    if (question.sendings.length > 1) {
      sending.late = true;
      return;
    }
    this.#asked.delete(question.token);
    this.#waiting.unshift({ ...question, token: (this.#count++).toString(36), sendings: [] });
    this.#sendWaiting();
  }

  #turn(): void {
    this.#turnsUp = this.#link.up ? this.#turnsUp + 1 : 0;
    this.#crew.turn();
    const now = this.#clock.monotonic();
    for (const question of this.#asked.values()) this.#review(question, now);
    this.#sendWaiting();
    while (this.#waiting[0] && this.#waiting[0].deadline <= now) {
      this.#waiting.shift()?.reject(new BusUnavailableError(`No server of "${this.#service}" had room in time`));
    }
  }

  /** Late: to another, once, with the same bytes. Too late: the outcome is unknown. */
  #review(question: Question, now: number): void {
    if (question.deadline <= now) {
      this.#asked.delete(question.token);
      for (const { server, late } of question.sendings) if (!late) this.#crew.late(server);
      question.reject(new BusTimeoutError(`No answer of "${this.#service}" within ${admissionDeadlineMs} ms`));
      return;
    }
    for (const sending of question.sendings) {
      if (sending.late || ++sending.turns < lateTurns) continue;
      sending.late = true;
      this.#crew.late(sending.server);
    }
    const [first, second] = question.sendings;
    if (first?.late && !second && this.#link.up) this.#send(question, this.#crew.take(first.server));
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#link.up) {
      const server = this.#crew.take();
      if (server === null) break;
      const question = this.#waiting.shift();
      if (question) this.#send(question, server);
    }
    if (this.#waiting.length === 0) return;
    if (!this.#link.up) this.#refuseWaiting("The bus is not connected");
    else if (this.#crew.empty && this.#turnsUp > silentTurnsMax) this.#refuseWaiting(`Nobody serves "${this.#service}"`);
  }

  #send(question: Question, server: string | null): void {
    if (server === null) return;
    const reply = `${this.#inbox}.${question.token}.${question.sendings.length}`;
    question.sendings.push({ server, turns: 0, late: false });
    this.#asked.set(question.token, question);
    this.#link.publish(askSubject(this.#service, server), question.payload, reply);
  }

  #refuseWaiting(reason: string): void {
    for (const question of this.#waiting.splice(0)) question.reject(new BusUnavailableError(reason));
  }

  #linkDown(): void {
    this.#crew.clear();
    this.#sendWaiting();
  }

  /** What was under way may be lost on either side: it goes once more, to whoever is heard first. */
  #linkUp(): void {
    this.#turnsUp = 0;
    for (const { sendings } of this.#asked.values()) {
      for (const sending of sendings) Object.assign(sending, { server: "", late: true });
    }
  }
}
