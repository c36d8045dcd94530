/**
 * Batches the gateway's requests to admission: requests of one turn of the event loop are sent as one message. While as many messages are
 * in flight as the workers take, further requests wait and are then sent together. A request that waited too long is refused, since
 * otherwise slow workers would let the queue grow to minutes. Look-ups of keys, and requests with an idempotency key, may wait for the
 * database; other decisions do not. Each of the three has its own lane, so neither a flood of invalid keys nor a slow ledger delays another
 * request. A failure says whether a worker may have acted. If it may, the caller has to release the generation (`PendingReleases`).
 */
import { BusTimeoutError, BusUnavailableError, type Bus, type Reply } from "../../backing/bus.ts";
import { admissionDeadlineMs, holdMs } from "../../backing/limits.ts";
import { type Clock, sleep } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { AdmissionIntent, BlockIntent } from "../journal/spool-line.ts";
import {
  admissionBatchBytesMax,
  admissionBatchMax,
  admissionRequestsWaitingMax,
  releaseRetryMs,
  releasesWaitingMax,
} from "../limits.ts";
import {
  type AdmissionReply,
  type ReplyBatch,
  type AdmissionRequest,
  decodeReplies,
  encodeRequest,
  encodeRequests,
  envelopeBytes,
  type EncodedRequest,
  type Reload,
} from "./message.ts";

/** No worker has acted on the request. */
export class RequestNotSentError extends Error {
  override name = "RequestNotSentError";
}

/** A worker may have acted on the request. */
export class NoReplyError extends Error {
  override name = "NoReplyError";
}

interface BatchedReply {
  reply: AdmissionReply;
  /** Two workers may have acted on the request. */
  resent: boolean;
  /** The counters' clock; null: they do not answer. */
  now: number | null;
}

type Intent = AdmissionIntent | BlockIntent;

interface WaitingRequest extends EncodedRequest {
  intent: Intent | null;
  /** Monotonic ms: a later reply is of no use. */
  endsAt: number;
  resolve: (reply: BatchedReply) => void;
  reject: (error: Error) => void;
}

/** Requests that wait only for each other. */
interface Lane {
  readonly waiting: WaitingRequest[];
  /** In messages. */
  inFlight: number;
}

interface RequestBatcherParts {
  bus: Bus;
  clock: Clock;
  /** Called with the counters' time from each message that carries it. */
  onCountersTime: (now: number) => void;
  /** Called with a message's intents before it is sent. If it throws, the message is not sent. */
  recordIntents: (intents: AdmissionIntent[], blocks: BlockIntent[]) => void;
}

export class RequestBatcher {
  readonly #parts: RequestBatcherParts;
  readonly #decisions: Lane = { waiting: [], inFlight: 0 };
  /** Look-ups of keys may wait for the database, decisions do not: a flood of invalid keys must not delay decisions. */
  readonly #lookups: Lane = { waiting: [], inFlight: 0 };
  /** Decisions with a claim wait for the ledger's word. */
  readonly #claims: Lane = { waiting: [], inFlight: 0 };
  /** Of the lanes that may wait for the database, the one that was served last comes last. */
  #slowLanes: readonly Lane[] = [this.#lookups, this.#claims];
  /** The lane that was served last was not that of decisions. When both kinds wait for one slot, the other kind gets it. */
  #wasSlow = true;
  #scheduled = false;

  constructor(parts: RequestBatcherParts) {
    this.#parts = parts;
  }

  /**
   * @param intent must be on disk before the request is sent
   * @throws RequestNotSentError, NoReplyError
   */
  send(request: AdmissionRequest, intent: Intent | null = null): Promise<BatchedReply> {
    const { waiting } = this.#laneOf(request);
    if (waiting.length >= admissionRequestsWaitingMax) {
      return Promise.reject(
        new RequestNotSentError(`Cannot send a request to admission: ${admissionRequestsWaitingMax} requests are waiting`),
      );
    }
    return new Promise((resolve, reject) => {
      const endsAt = this.#parts.clock.monotonic() + admissionDeadlineMs;
      waiting.push({ ...encodeRequest(request), intent, endsAt, resolve, reject });
      this.#schedule();
    });
  }

  #laneOf(request: AdmissionRequest): Lane {
    if (request.kind === "authenticate") return this.#lookups;
    return request.kind === "admit" && request.claim ? this.#claims : this.#decisions;
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
    for (const lane of this.#lanes()) this.#rejectOverdue(lane);
    for (let lane = this.#nextLane(); lane !== null; lane = this.#nextLane()) this.#sendBatch(lane);
  }

  #lanes(): Lane[] {
    return [this.#decisions, ...this.#slowLanes];
  }

  /** Alternates between the lanes, so that none starves another. Those that may wait for the database take at most half of the slots. */
  #nextLane(): Lane | null {
    const width = this.#parts.bus.width("admission");
    if (inFlightOf(this.#lanes()) >= width) return null;
    const mayBeSlow = inFlightOf(this.#slowLanes) < Math.max(1, width >> 1);
    const slow = mayBeSlow ? (this.#slowLanes.find(({ waiting }) => waiting.length > 0) ?? null) : null;
    if (this.#decisions.waiting.length === 0) return slow;
    return slow !== null && !this.#wasSlow ? slow : this.#decisions;
  }

  #sendBatch(lane: Lane): void {
    this.#wasSlow = lane !== this.#decisions;
    if (this.#wasSlow) this.#slowLanes = [...this.#slowLanes.filter((other) => other !== lane), lane];
    lane.inFlight++;
    void this.#exchange(nextBatch(lane.waiting)).finally(() => {
      lane.inFlight--;
      if (this.#lanes().some(({ waiting }) => waiting.length > 0)) this.#schedule();
    });
  }

  /** Without this bound, slow workers would let the queue grow to a wait of minutes. */
  #rejectOverdue({ waiting }: Lane): void {
    const now = this.#parts.clock.monotonic();
    const inTime = waiting.findIndex(({ endsAt }) => endsAt > now);
    const overdue = waiting.splice(0, inTime === -1 ? waiting.length : inTime);
    for (const { reject } of overdue)
      reject(new RequestNotSentError(`Cannot send a request to admission: it waited for more than ${admissionDeadlineMs} ms`));
  }

  async #exchange(batch: WaitingRequest[]): Promise<void> {
    try {
      const intents = batch.flatMap(({ intent }) => (intent && "generation" in intent ? intent : []));
      const blocks = batch.flatMap(({ intent }) => (intent && "block" in intent ? intent : []));
      if (intents.length + blocks.length > 0) this.#parts.recordIntents(intents, blocks);
    } catch (error) {
      for (const { reject } of batch)
        reject(new RequestNotSentError("Cannot send a request to admission: its intent cannot be written", { cause: error }));
      return;
    }
    try {
      const { payload, resent } = await this.#request(encodeRequests(batch));
      this.#resolveAll(batch, decodeReplies(payload), resent);
    } catch (error) {
      for (const { reject } of batch) reject(exchangeError(error));
    }
  }

  /** After a freeze, this process reads replies that arrived in time but are now outdated. Such a reply admits nothing. */
  async #request(payload: Uint8Array): Promise<Reply> {
    const { bus, clock } = this.#parts;
    const sentAt = clock.monotonic();
    const reply = await bus.request("admission", payload);
    if (clock.monotonic() - sentAt > admissionDeadlineMs) {
      throw new BusTimeoutError(`The reply was read more than ${admissionDeadlineMs} ms after the request was sent`);
    }
    return reply;
  }

  #resolveAll(batch: WaitingRequest[], message: ReplyBatch, resent: boolean): void {
    if (message.now !== null) this.#parts.onCountersTime(message.now);
    for (const [index, { resolve, reject }] of batch.entries()) {
      const reply = message.answers[index];
      if (reply) resolve({ reply, resent, now: message.now });
      else reject(new NoReplyError(`Admission sent ${message.answers.length} replies to ${batch.length} requests`));
    }
  }
}

interface PendingRelease {
  request: Extract<AdmissionRequest, { kind: "void" | "reload" }>;
  /** Monotonic ms: by then the sweeper has released the hold. */
  endsAt: number;
}

/**
 * Generations whose admission has an unknown outcome. Their release is requested until a worker confirms it. The tombstone that a
 * release leaves refuses an admission that arrives later. Reloads are requested in the same way.
 */
export class PendingReleases {
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: PendingRelease[] = [];
  #size = 0;
  #running = false;

  constructor(batcher: RequestBatcher, clock: Clock, log: Logger) {
    this.#batcher = batcher;
    this.#clock = clock;
    this.#log = log;
  }

  add(workspace: WorkspaceId, generation: GenerationId): void {
    this.#add(
      { kind: "void", workspace, generation },
      "Too many admissions with an unknown outcome; the sweeper releases this one",
    );
  }

  reload(reload: Omit<Reload, "kind">): void {
    this.#add({ kind: "reload", ...reload }, "Too many requests to load counters again; what they may lack ends with its holds");
  }

  /** How many are not released yet. */
  get size(): number {
    return this.#size;
  }

  /** Never rejects. It stops in the same turn in which it finds nothing waiting, so no later addition is missed. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, admissionBatchMax);
      const left = await Promise.all(batch.map(async (entry) => ((await this.#release(entry)) ? [] : [entry])));
      const again = left.flat();
      this.#size -= batch.length - again.length;
      this.#waiting.push(...again);
      if (again.length > 0) await sleep(this.#clock, releaseRetryMs);
    }
    this.#running = false;
  }

  /** @param problem what the log says where too many wait */
  #add(request: PendingRelease["request"], problem: string): void {
    if (this.#size >= releasesWaitingMax) return this.#log.error({ event: "releases.full", ...request }, problem);
    this.#size++;
    this.#waiting.push({ request, endsAt: this.#clock.monotonic() + holdMs });
    if (!this.#running) void this.#run();
  }

  async #release({ request, endsAt }: PendingRelease): Promise<boolean> {
    if (this.#clock.monotonic() > endsAt) return true;
    try {
      const { reply } = await this.#batcher.send(request);
      return reply.kind === "done";
    } catch {
      return false;
    }
  }
}

function inFlightOf(lanes: readonly Lane[]): number {
  return lanes.reduce((sum, { inFlight }) => sum + inFlight, 0);
}

/** Takes as many requests as one message may hold. */
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
  const problem = error instanceof BusTimeoutError ? "in time" : "that can be read";
  return new NoReplyError(`Admission sent no reply ${problem}`, { cause: error });
}
