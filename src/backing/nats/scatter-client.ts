/** Asks all processes at once. Those that report beat, so that a survey knows whose answers it waits for. */
import { createInbox, type Msg } from "nats";
import type { Clock } from "../../kernel/clock.ts";
import { busSilenceMsMax, reporterMemoryMs, surveyListenMs } from "../limits.ts";
import { BusTimeoutError, BusUnavailableError, type Survey } from "../bus.ts";
import { readBeat } from "./heartbeat.ts";
import type { NatsLink } from "./nats-link.ts";
import { Roster } from "./membership.ts";
import { reporterBeatSubject, surveySubject } from "./subjects.ts";
import { everyTurn, turnsOf } from "./ticker.ts";

interface Round {
  /** By the id of who answered. */
  answers: Map<string, Uint8Array>;
  check(): void;
  reject(error: Error): void;
}

/** After so many turns of listening whoever is there has been heard, and after so many more it is sure that nobody else is. */
const heardTurns = turnsOf(surveyListenMs);
const acquaintedTurns = turnsOf(busSilenceMsMax);

export class Surveyor implements AsyncDisposable {
  readonly #link: NatsLink;
  readonly #survey: Survey;
  readonly #clock: Clock;
  readonly #reporters = new Roster(turnsOf(reporterMemoryMs));
  readonly #inbox = createInbox();
  readonly #rounds = new Map<string, Round>();
  readonly #stack = new AsyncDisposableStack();
  #count = 0;
  #turnsUp = 0;

  constructor({ link, survey, clock }: { link: NatsLink; survey: Survey; clock: Clock }) {
    this.#link = link;
    this.#survey = survey;
    this.#clock = clock;
    this.#stack.use(link.watch({ up: () => void (this.#turnsUp = 0), down: () => this.#linkDown() }));
    this.#stack.use(link.subscribe(reporterBeatSubject(survey), (message) => this.#heard(message)));
    this.#stack.use(link.subscribe(`${this.#inbox}.*.*`, (message) => this.#answered(message)));
    this.#stack.use(everyTurn(clock, () => this.#turn()));
  }

  /**
   * @throws BusUnavailableError when the link is down or goes down, or has just come up: no answers would look like nobody there
   * @throws BusTimeoutError when somebody who was heard of lately does not answer: what they know would look like nothing
   */
  async ask(payload: Uint8Array, waitMs: number): Promise<Uint8Array[]> {
    if (!this.#link.up) throw new BusUnavailableError("The bus is not connected");
    if (this.#turnsUp < heardTurns) throw new BusUnavailableError("It is not known yet who is there");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const token = (this.#count++).toString(36);
    const answers: Round["answers"] = new Map();
    this.#rounds.set(token, { answers, check: () => this.#allAnswered(answers) && resolve(), reject });
    const cancel = this.#clock.after(waitMs, resolve);
    try {
      this.#link.publish(surveySubject(this.#survey), payload, `${this.#inbox}.${token}`);
      if (this.#allAnswered(answers)) resolve();
      await promise;
      if (!this.#knownAnswered(answers)) throw new BusTimeoutError("Somebody who is there did not answer a survey");
      return [...answers.values()];
    } finally {
      cancel();
      this.#rounds.delete(token);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#linkDown();
    await this.#stack.disposeAsync();
  }

  #allAnswered(answers: Round["answers"]): boolean {
    return this.#turnsUp > acquaintedTurns && this.#knownAnswered(answers);
  }

  #knownAnswered(answers: Round["answers"]): boolean {
    return this.#reporters.ids.every((id) => answers.has(id));
  }

  #heard(message: Msg): void {
    const { id, leaves } = readBeat(message.data);
    if (leaves) this.#reporters.left(id);
    else this.#reporters.heard(id);
  }

  #answered(message: Msg): void {
    const [id = "", token = ""] = message.subject.split(".").toReversed();
    const round = this.#rounds.get(token);
    round?.answers.set(id, message.data);
    round?.check();
  }

  /** While the link is down nobody can be heard: who was there before it went is still expected when it is back. */
  #turn(): void {
    if (!this.#link.up) return;
    this.#turnsUp++;
    this.#reporters.turn();
  }

  #linkDown(): void {
    for (const { reject } of this.#rounds.values()) reject(new BusUnavailableError("The bus went away during a survey"));
  }
}
