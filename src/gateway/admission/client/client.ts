/** The front's side of admission: it asks, a worker decides. Every outcome is an admission, a GatewayError, or a void in the making. */
import type { Bus } from "../../../backing/bus.ts";
import { reservationFrom, type Reservation } from "../../credit/reservation.ts";
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { GatewayError } from "../../../kernel/errors.ts";
import type { AdmissionIntent } from "../../journal/spool-line.ts";
import { newGenerationId, newRequestId, type KeyId, type WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { admissionDeadlineMs } from "../../../backing/limits.ts";
import { admissionRetryMs, rebuildWaitMs } from "../../limits.ts";
import { unavailableMessage } from "../decide.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { GatewayKeyCache } from "./gateway-key-cache.ts";
import type { AdmitGeneration, AdmissionReply, AdmissionRequest, RecordOnBus, Refused, WindowOnBus } from "../message.ts";
import { RequestNotSentError, RequestBatcher } from "./request-batcher.ts";
import { PendingAdmissions } from "./pending-admissions.ts";
import { PendingReleases } from "./pending-releases.ts";

/** A checked key and whose it is. */
export interface Caller {
  hash: string;
  record: RecordOnBus;
}

/** What the worker needs to know of a request; the body stays here. */
export type RequestFacts = Pick<AdmitGeneration, "model" | "inputTokens" | "maxTokens" | "tools">;

export interface Admission {
  reservation: Reservation;
  fingerprint: string;
  window: WindowOnBus;
}

/** Refused at checks 1 to 5: `window` is there when the rate check was reached. */
export class RefusedError extends GatewayError {
  override name = "RefusedError";
  readonly window: WindowOnBus | null;
  readonly retryAfterMs: number | null;

  constructor(refused: Refused, model: string) {
    const message = refused.reason ? unavailableMessage(model, refused.reason) : refused.message;
    const shouldRetry = refused.reason === "catalog_unreadable" ? true : undefined;
    super(refused.code, { message, param: refused.param, shouldRetry });
    this.window = refused.window ?? null;
    this.retryAfterMs = refused.retryAfterMs ?? null;
  }
}

export interface CreditPosition {
  balance: bigint;
  reserved: bigint;
  available: bigint;
  keySpent: bigint | null;
  month: string;
}

type Admitted = Extract<AdmissionReply, { kind: "admitted" }>;

/** The book of generations, as far as admission needs it. */
interface Journal {
  /** Written before admission is asked, so that a hold which this process never hears of is given up by its successor. */
  recordIntents(intents: AdmissionIntent[]): void;
  /** Has `listener` called with each report of what is open in a workspace, in the turn in which it is made. */
  onReport(listener: (workspace: WorkspaceId) => void): void;
}

interface ClientParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  journal: Journal;
  /** How many keys are remembered; absent: `recordsCachedMax`. */
  recordsMax?: number;
}

export class AdmissionClient {
  readonly releases: PendingReleases;
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #keys: GatewayKeyCache;
  readonly #pending: PendingAdmissions;
  /** The counters' clock minus our monotonic one: never ahead of the truth, for a reply takes time to arrive. */
  #clockOffset: number | null = null;

  constructor({ bus, clock, log, journal, recordsMax }: ClientParts) {
    this.#clock = clock;
    this.#keys = new GatewayKeyCache(clock, recordsMax);
    this.#pending = new PendingAdmissions();
    journal.onReport((workspace) => this.#pending.markReported(workspace));
    this.#batcher = new RequestBatcher({
      bus,
      clock,
      onCountersTime: (now) => (this.#clockOffset = now - clock.monotonic()),
      recordIntents: (asked) => journal.recordIntents(asked),
    });
    this.releases = new PendingReleases(this.#batcher, clock, log);
    bus.listen("records-changed", () => this.#keys.clear());
  }

  /**
   * Check 1: who calls?
   * @returns null when it is no usable key
   * @throws GatewayError auth_unavailable when nobody can tell
   */
  async authenticate(hash: string): Promise<Caller | null> {
    const hint = this.#keys.get(hash);
    if (hint !== undefined) return hint && { hash, record: hint };
    const asked = { at: this.#clock.monotonic(), version: this.#keys.version() };
    const answer = await this.#send({ kind: "authenticate", hash }).catch(() => null);
    if (answer?.kind !== "record") throw new GatewayError("auth_unavailable");
    this.#keys.set(hash, answer, asked);
    return answer.record && { hash, record: answer.record };
  }

  /**
   * Checks 3, 4 and 5 in one atomic step, and once more the first.
   * @throws RefusedError with the first problem; GatewayError billing_unavailable when nobody can tell
   */
  async admit(caller: Caller, wanted: RequestFacts): Promise<Admission> {
    if (this.#clockOffset === null) await this.#fetchCountersTime(caller);
    const now = this.#clock.now();
    const generation = newGenerationId(now);
    // Field by field: the body stays here, whatever else `wanted` carries.
    const { model, inputTokens, maxTokens, tools } = wanted;
    const facts = { hash: caller.hash, model, inputTokens, maxTokens, tools };
    const fingerprint = fingerprintOf(facts);
    const decision = await this.#decide(caller, { kind: "admit", generation, ...facts, deadline: this.#deadline(), fingerprint });
    if (decision.kind === "refused") throw new RefusedError(decision, model);
    const { at: admittedAt, month, maxOutputTokens, window } = decision;
    const { workspace, id: key } = caller.record;
    const request = newRequestId(now);
    const amount = BigInt(decision.amount);
    const reservation = reservationFrom({ generation, request, workspace, key, month, amount, admittedAt, maxOutputTokens });
    return { reservation, fingerprint, window };
  }

  /** Gives up an admission that nothing was done with. */
  release(reservation: Reservation): void {
    this.releases.add(reservation.workspace, reservation.generation);
  }

  /** Credit and month for GET /key and the control API; null when the counters cannot answer. */
  async position(workspace: WorkspaceId, key: KeyId | null): Promise<CreditPosition | null> {
    const answer = await this.#sendUntilLoaded({ kind: "position", workspace, key }).catch(() => null);
    if (answer?.kind !== "position") return null;
    const { balance, reserved, available, keySpent, month } = answer;
    return {
      balance: BigInt(balance),
      reserved: BigInt(reserved),
      available: BigInt(available),
      keySpent: keySpent === null ? null : BigInt(keySpent),
      month,
    };
  }

  /** The ledger of a workspace has grown by credit: its counters are to know. Best effort; metering reconciles each minute. */
  async refresh(workspace: WorkspaceId): Promise<void> {
    await this.#send({ kind: "refresh", workspace }).catch(() => null);
  }

  /** Whether keys and counters can be asked for, with a question that changes nothing: null is well. */
  async problem(): Promise<string | null> {
    const { reply: answer, now } = await this.#batcher.send({ kind: "authenticate", hash: "0".repeat(64) });
    if (answer.kind !== "record") return "keys cannot be read";
    return now === null ? "the counters do not answer" : null;
  }

  /** Any answer brings the counters' clock. */
  async #fetchCountersTime({ hash }: Caller): Promise<void> {
    await this.#send({ kind: "authenticate", hash }).catch(() => null);
  }

  #deadline(): number | null {
    return this.#clockOffset === null ? null : Math.floor(this.#clockOffset + this.#clock.monotonic()) + admissionDeadlineMs;
  }

  /**
   * A decision that stands. "Again" means that counters are being loaded, for which a request waits up to a second. Where they
   * were rebuilt while its answer was on its way it asks again at once. What may be held without a decision is given up.
   */
  async #decide({ record: { workspace } }: Caller, ask: AdmitGeneration): Promise<Admitted | Refused> {
    const undecided = this.#pending.open(workspace);
    const note: AdmissionIntent = { workspace, generation: ask.generation };
    const endsAt = this.#clock.monotonic() + rebuildWaitMs;
    let mayBeHeld = false;
    try {
      for (;;) {
        const { reply: answer, resent } = await this.#batcher.send(ask, note);
        const isRebuilt = undecided.reported;
        undecided.reported = false;
        if (answer.kind === "admitted" && !isRebuilt) return answer;
        mayBeHeld ||= resent || answer.kind === "admitted" || isOutcomeUnknown(answer);
        const refused = answer.kind === "refused" ? answer : null;
        if (refused === null && this.#clock.monotonic() < endsAt) {
          if (answer.kind === "again") await sleep(this.#clock, admissionRetryMs);
          continue;
        }
        if (mayBeHeld) this.releases.add(workspace, ask.generation);
        return refused ?? { kind: "refused", code: "billing_unavailable" };
      }
    } catch (error) {
      if (mayBeHeld || !(error instanceof RequestNotSentError)) this.releases.add(workspace, ask.generation);
      throw new GatewayError("billing_unavailable", { cause: error });
    } finally {
      this.#pending.close(undecided);
    }
  }

  async #sendUntilLoaded(ask: AdmissionRequest): Promise<AdmissionReply> {
    const endsAt = this.#clock.monotonic() + rebuildWaitMs;
    for (;;) {
      const answer = await this.#send(ask);
      if (answer.kind !== "again" || this.#clock.monotonic() >= endsAt) return answer;
      await sleep(this.#clock, admissionRetryMs);
    }
  }

  async #send(ask: AdmissionRequest): Promise<AdmissionReply> {
    return (await this.#batcher.send(ask)).reply;
  }
}

/** Codes of an admission that may have been done all the same. */
function isOutcomeUnknown(answer: AdmissionReply): boolean {
  return answer.kind === "refused" && (answer.code === "billing_unavailable" || answer.code === "internal_error");
}
