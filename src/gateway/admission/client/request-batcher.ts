/**
 * The front's questions to admission, gathered: what is asked in one turn of the event loop travels as one message.
 * While as many messages are under way as the workers take, further questions wait and travel together. Questions that may wait
 * for the database travel apart from those that do not.
 */
import { BusTimeoutError, BusUnavailableError, type Bus, type Reply } from "../../../backing/bus.ts";
import type { AdmissionIntent } from "../../journal/spool-line.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { admissionDeadlineMs } from "../../../backing/limits.ts";
import { admissionBatchBytesMax, admissionBatchMax, admissionRequestsWaitingMax } from "../../limits.ts";
import type { AdmissionReply, ReplyBatch, AdmissionRequest } from "../message.ts";
import { decodeReplies, encodeRequest, encodeRequests, envelopeBytes, type EncodedRequest } from "../codec.ts";

/** The question was certainly not acted on. */
export class RequestNotSentError extends Error {
  override name = "NotAskedError";
}

/** The question may have been acted on. */
export class NoReplyError extends Error {
  override name = "NoAnswerError";
}

export interface BatchedReply {
  reply: AdmissionReply;
  /** Two workers may have acted on the question. */
  resent: boolean;
  /** The counters' clock; null: they do not answer. */
  now: number | null;
}

interface WaitingRequest extends EncodedRequest {
  intent: AdmissionIntent | null;
  /** Monotonic ms: nobody is helped by an answer after it. */
  endsAt: number;
  resolve: (told: BatchedReply) => void;
  reject: (error: Error) => void;
}

/** Questions that wait for each other alone. */
interface Lane {
  readonly waiting: WaitingRequest[];
  /** Messages. */
  inFlight: number;
}

interface RequestBatcherParts {
  bus: Bus;
  clock: Clock;
  /** Told the counters' clock with each message that brings it. */
  onCountersTime: (now: number) => void;
  /** Given the notes of a message's questions before it is sent; where it throws, nothing is asked. */
  recordIntents: (notes: AdmissionIntent[]) => void;
}

export class RequestBatcher {
  readonly #parts: RequestBatcherParts;
  readonly #decisions: Lane = { waiting: [], inFlight: 0 };
  /** Of keys, which may wait for the database: a flood of wrong ones is not to hold decisions up, which do not. */
  readonly #lookups: Lane = { waiting: [], inFlight: 0 };
  /** Went last: where both lanes wait for one place, the other goes. */
  #lastLane: Lane = this.#lookups;
  #scheduled = false;

  constructor(parts: RequestBatcherParts) {
    this.#parts = parts;
  }

  /**
   * @param note what must be on disk before the question leaves
   * @throws NotAskedError, NoAnswerError
   */
  send(ask: AdmissionRequest, note: AdmissionIntent | null = null): Promise<BatchedReply> {
    const { waiting } = ask.kind === "authenticate" ? this.#lookups : this.#decisions;
    if (waiting.length >= admissionRequestsWaitingMax) {
      return Promise.reject(
        new RequestNotSentError(`Cannot ask admission: ${admissionRequestsWaitingMax} questions wait already`),
      );
    }
    return new Promise((resolve, reject) => {
      const endsAt = this.#parts.clock.monotonic() + admissionDeadlineMs;
      waiting.push({ ...encodeRequest(ask), intent: note, endsAt, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#parts.clock.endOfTurn(() => {
      this.#scheduled = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    this.#rejectOverdue(this.#decisions);
    this.#rejectOverdue(this.#lookups);
    for (let lane = this.#nextLane(); lane !== null; lane = this.#nextLane()) this.#sendBatch(lane);
  }

  /** By turns, so that neither starves the other; look-ups leave decisions half of the places. */
  #nextLane(): Lane | null {
    const [decisions, lookups] = [this.#decisions, this.#lookups];
    const width = this.#parts.bus.width("admission");
    if (decisions.inFlight + lookups.inFlight >= width) return null;
    const mayLookUp = lookups.waiting.length > 0 && lookups.inFlight < Math.max(1, width >> 1);
    if (decisions.waiting.length === 0) return mayLookUp ? lookups : null;
    return mayLookUp && this.#lastLane === decisions ? lookups : decisions;
  }

  #sendBatch(lane: Lane): void {
    this.#lastLane = lane;
    lane.inFlight++;
    void this.#exchange(nextBatch(lane.waiting)).finally(() => {
      lane.inFlight--;
      if (this.#decisions.waiting.length + this.#lookups.waiting.length > 0) this.#schedule();
    });
  }

  /** Where workers answer slowly, the line would grow to a wait of minutes. */
  #rejectOverdue({ waiting }: Lane): void {
    const now = this.#parts.clock.monotonic();
    const inTime = waiting.findIndex(({ endsAt }) => endsAt > now);
    const overdue = waiting.splice(0, inTime === -1 ? waiting.length : inTime);
    for (const { reject } of overdue)
      reject(new RequestNotSentError(`Cannot ask admission: no turn within ${admissionDeadlineMs} ms`));
  }

  async #exchange(batch: WaitingRequest[]): Promise<void> {
    try {
      const notes = batch.flatMap(({ intent: note }) => note ?? []);
      if (notes.length > 0) this.#parts.recordIntents(notes);
    } catch (error) {
      for (const { reject } of batch)
        reject(new RequestNotSentError("Cannot ask admission: it cannot be written down", { cause: error }));
      return;
    }
    try {
      const { payload, resent } = await this.#request(encodeRequests(batch));
      this.#resolveAll(batch, decodeReplies(payload), resent);
    } catch (error) {
      for (const { reject } of batch) reject(exchangeError(error));
    }
  }

  /** A process that was frozen finds answers that came in time, of decisions that have long passed: what they admit is not called for. */
  async #request(payload: Uint8Array): Promise<Reply> {
    const { bus, clock } = this.#parts;
    const sentAt = clock.monotonic();
    const reply = await bus.request("admission", payload);
    if (clock.monotonic() - sentAt > admissionDeadlineMs) {
      throw new BusTimeoutError(`The answer was read more than ${admissionDeadlineMs} ms after the question was sent`);
    }
    return reply;
  }

  #resolveAll(batch: WaitingRequest[], message: ReplyBatch, resent: boolean): void {
    if (message.now !== null) this.#parts.onCountersTime(message.now);
    for (const [index, { resolve, reject }] of batch.entries()) {
      const answer = message.answers[index];
      if (answer) resolve({ reply: answer, resent, now: message.now });
      else reject(new NoReplyError(`Admission gave ${message.answers.length} answers to ${batch.length} questions`));
    }
  }
}

/** Takes as many as one message may hold. */
function nextBatch(waiting: WaitingRequest[]): WaitingRequest[] {
  let bytes = envelopeBytes;
  let count = 0;
  for (const { bytes: more } of waiting) {
    if (count >= admissionBatchMax || (count > 0 && bytes + more > admissionBatchBytesMax)) break;
    bytes += more;
    count++;
  }
  return waiting.splice(0, count);
}

function exchangeError(error: unknown): Error {
  if (error instanceof BusUnavailableError) return new RequestNotSentError("Admission cannot be reached", { cause: error });
  const why = error instanceof BusTimeoutError ? "in time" : "that can be read";
  return new NoReplyError(`Admission gave no answer ${why}`, { cause: error });
}
