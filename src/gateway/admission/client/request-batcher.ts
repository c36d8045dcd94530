/**
 * The front's questions to admission, gathered: what is asked in one turn of the event loop travels as one message.
 * While as many messages are under way as the workers take, further questions wait and travel together. Questions that may wait
 * for the database travel apart from those that do not.
 */
import { BusTimeoutError, BusUnavailableError, type Bus, type Reply } from "../../../backing/bus.ts";
import type { Asked } from "../../journal/spool-line.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { admissionDeadlineMs } from "../../../backing/limits.ts";
import { admissionBatchBytesMax, admissionBatchMax, questionsWaitingMax } from "../../limits.ts";
import type { Answer, AnswerMessage, Ask } from "../message.ts";
import { decodeAnswers, encodeAsk, encodeAsks, envelopeBytes, type EncodedAsk } from "../codec.ts";

/** The question was certainly not acted on. */
export class NotAskedError extends Error {
  override name = "NotAskedError";
}

/** The question may have been acted on. */
export class NoAnswerError extends Error {
  override name = "NoAnswerError";
}

export interface Told {
  answer: Answer;
  /** Two workers may have acted on the question. */
  resent: boolean;
  /** The counters' clock; null: they do not answer. */
  now: number | null;
}

interface Waiting extends EncodedAsk {
  note: Asked | null;
  /** Monotonic ms: nobody is helped by an answer after it. */
  endsAt: number;
  resolve: (told: Told) => void;
  reject: (error: Error) => void;
}

/** Questions that wait for each other alone. */
interface Lane {
  readonly waiting: Waiting[];
  /** Messages. */
  underWay: number;
}

interface QuestionsParts {
  bus: Bus;
  clock: Clock;
  /** Told the counters' clock with each message that brings it. */
  onTime: (now: number) => void;
  /** Given the notes of a message's questions before it is sent; where it throws, nothing is asked. */
  writeDown: (notes: Asked[]) => void;
}

export class Questions {
  readonly #parts: QuestionsParts;
  readonly #decisions: Lane = { waiting: [], underWay: 0 };
  /** Of keys, which may wait for the database: a flood of wrong ones is not to hold decisions up, which do not. */
  readonly #lookups: Lane = { waiting: [], underWay: 0 };
  /** Went last: where both lanes wait for one place, the other goes. */
  #last: Lane = this.#lookups;
  #scheduled = false;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /**
   * @param note what must be on disk before the question leaves
   * @throws NotAskedError, NoAnswerError
   */
  ask(ask: Ask, note: Asked | null = null): Promise<Told> {
    const { waiting } = ask.kind === "authenticate" ? this.#lookups : this.#decisions;
    if (waiting.length >= questionsWaitingMax) {
      return Promise.reject(new NotAskedError(`Cannot ask admission: ${questionsWaitingMax} questions wait already`));
    }
    return new Promise((resolve, reject) => {
      const endsAt = this.#parts.clock.monotonic() + admissionDeadlineMs;
      waiting.push({ ...encodeAsk(ask), note, endsAt, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#parts.clock.endOfTurn(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    this.#refuseOverdue(this.#decisions);
    this.#refuseOverdue(this.#lookups);
    for (let lane = this.#next(); lane !== null; lane = this.#next()) this.#sendOne(lane);
  }

  /** By turns, so that neither starves the other; look-ups leave decisions half of the places. */
  #next(): Lane | null {
    const [decisions, lookups] = [this.#decisions, this.#lookups];
    const width = this.#parts.bus.width("admission");
    if (decisions.underWay + lookups.underWay >= width) return null;
    const mayLookUp = lookups.waiting.length > 0 && lookups.underWay < Math.max(1, width >> 1);
    if (decisions.waiting.length === 0) return mayLookUp ? lookups : null;
    return mayLookUp && this.#last === decisions ? lookups : decisions;
  }

  #sendOne(lane: Lane): void {
    this.#last = lane;
    lane.underWay++;
    void this.#exchange(nextBatch(lane.waiting)).finally(() => {
      lane.underWay--;
      if (this.#decisions.waiting.length + this.#lookups.waiting.length > 0) this.#schedule();
    });
  }

  /** Where workers answer slowly, the line would grow to a wait of minutes. */
  #refuseOverdue({ waiting }: Lane): void {
    const now = this.#parts.clock.monotonic();
    const inTime = waiting.findIndex(({ endsAt }) => endsAt > now);
    const overdue = waiting.splice(0, inTime === -1 ? waiting.length : inTime);
    for (const { reject } of overdue) reject(new NotAskedError(`Cannot ask admission: no turn within ${admissionDeadlineMs} ms`));
  }

  async #exchange(batch: Waiting[]): Promise<void> {
    try {
      const notes = batch.flatMap(({ note }) => note ?? []);
      if (notes.length > 0) this.#parts.writeDown(notes);
    } catch (error) {
      for (const { reject } of batch)
        reject(new NotAskedError("Cannot ask admission: it cannot be written down", { cause: error }));
      return;
    }
    try {
      const { payload, resent } = await this.#requested(encodeAsks(batch));
      this.#tell(batch, decodeAnswers(payload), resent);
    } catch (error) {
      for (const { reject } of batch) reject(unanswered(error));
    }
  }

  /** A process that was frozen finds answers that came in time, of decisions that have long passed: what they admit is not called for. */
  async #requested(payload: Uint8Array): Promise<Reply> {
    const { bus, clock } = this.#parts;
    const sentAt = clock.monotonic();
    const reply = await bus.request("admission", payload);
    if (clock.monotonic() - sentAt > admissionDeadlineMs) {
      throw new BusTimeoutError(`The answer was read more than ${admissionDeadlineMs} ms after the question was sent`);
    }
    return reply;
  }

  #tell(batch: Waiting[], message: AnswerMessage, resent: boolean): void {
    if (message.now !== null) this.#parts.onTime(message.now);
    for (const [index, { resolve, reject }] of batch.entries()) {
      const answer = message.answers[index];
      if (answer) resolve({ answer, resent, now: message.now });
      else reject(new NoAnswerError(`Admission gave ${message.answers.length} answers to ${batch.length} questions`));
    }
  }
}

/** Takes as many as one message may hold. */
function nextBatch(waiting: Waiting[]): Waiting[] {
  let bytes = envelopeBytes;
  let count = 0;
  for (const { bytes: more } of waiting) {
    if (count >= admissionBatchMax || (count > 0 && bytes + more > admissionBatchBytesMax)) break;
    bytes += more;
    count++;
  }
  return waiting.splice(0, count);
}

function unanswered(error: unknown): Error {
  if (error instanceof BusUnavailableError) return new NotAskedError("Admission cannot be reached", { cause: error });
  const why = error instanceof BusTimeoutError ? "in time" : "that can be read";
  return new NoAnswerError(`Admission gave no answer ${why}`, { cause: error });
}
