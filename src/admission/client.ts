/** The front's side of admission: it asks, a worker decides. Every outcome is an admission, a GatewayError, or a void in the making. */
import type { Bus } from "../backing/bus.ts";
import { reservationFrom, type Reservation } from "../credit/reservation.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/errors.ts";
import { newGenerationId, newRequestId, type KeyId, type WorkspaceId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import { admissionDeadlineMs, askAgainMs, rebuildWaitMs } from "../limits/constants.ts";
import { unavailableMessage } from "./decide.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { Hints } from "./hints.ts";
import type { AdmitAsk, Answer, Ask, RecordOnBus, Refused, WindowOnBus } from "./message.ts";
import { NoAnswerError, NotAskedError, Questions, type Told } from "./questions.ts";
import { Voids } from "./voids.ts";

/** A checked key and whose it is. */
export interface Caller {
  hash: string;
  record: RecordOnBus;
}

/** What the worker needs to know of a request; the body stays here. */
export type Wanted = Pick<AdmitAsk, "model" | "inputTokens" | "maxTokens" | "tools">;

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

export interface Position {
  balance: bigint;
  reserved: bigint;
  available: bigint;
  keySpent: bigint | null;
  month: string;
}

interface ClientParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
}

export class AdmissionClient {
  readonly voids: Voids;
  readonly #questions: Questions;
  readonly #clock: Clock;
  readonly #hints: Hints;
  /** The counters' clock minus our monotonic one: never ahead of the truth, for a reply takes time to arrive. */
  #clockOffset: number | null = null;

  constructor({ bus, clock, log }: ClientParts) {
    this.#clock = clock;
    this.#hints = new Hints(clock);
    this.#questions = new Questions(bus, (now) => (this.#clockOffset = now - clock.monotonic()));
    this.voids = new Voids(this.#questions, clock, log);
    bus.listen("records-changed", () => this.#hints.forget());
  }

  /**
   * Check 1: who calls?
   * @returns null when it is no usable key
   * @throws GatewayError auth_unavailable when nobody can tell
   */
  async authenticate(hash: string): Promise<Caller | null> {
    const hint = this.#hints.get(hash);
    if (hint !== undefined) return hint && { hash, record: hint };
    const asked = { at: this.#clock.monotonic(), version: this.#hints.version() };
    const answer = await this.#ask({ kind: "authenticate", hash }).catch(() => null);
    if (answer?.kind !== "record") throw new GatewayError("auth_unavailable");
    this.#hints.keep(hash, answer, asked);
    return answer.record && { hash, record: answer.record };
  }

  /**
   * Checks 3, 4 and 5 in one atomic step, and once more the first.
   * @throws RefusedError with the first problem; GatewayError billing_unavailable when nobody can tell
   */
  async admit(caller: Caller, wanted: Wanted): Promise<Admission> {
    const generation = newGenerationId(this.#clock.now());
    const deadline = await this.#deadline(caller);
    const ask: AdmitAsk = { kind: "admit", generation, hash: caller.hash, ...wanted, deadline };
    const { answer, resent } = await this.#admitPatiently(caller, ask);
    if (answer.kind === "admitted") {
      const { workspace, key, at, month, amount, maxOutputTokens, window } = answer;
      const request = newRequestId(this.#clock.now());
      const facts = { generation, request, workspace, key, month, amount: BigInt(amount), admittedAt: at, maxOutputTokens };
      return { reservation: reservationFrom(facts), fingerprint: fingerprintOf(ask), window };
    }
    const refused: Refused = answer.kind === "refused" ? answer : { kind: "refused", code: "billing_unavailable" };
    const unknown = refused.code === "billing_unavailable" || refused.code === "internal_error";
    if (resent || unknown) this.voids.add(caller.record.workspace, generation);
    throw new RefusedError(refused, wanted.model);
  }

  /** Gives up an admission that nothing was done with. */
  giveUp(reservation: Reservation): void {
    this.voids.add(reservation.workspace, reservation.generation);
  }

  /** Credit and month for GET /key and the control API; null when the counters cannot answer. */
  async position(workspace: WorkspaceId, key: KeyId | null): Promise<Position | null> {
    const told = await this.#patiently({ kind: "position", workspace, key }).catch(() => null);
    if (told?.answer.kind !== "position") return null;
    const { balance, reserved, available, keySpent, month } = told.answer;
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
    await this.#ask({ kind: "refresh", workspace }).catch(() => null);
  }

  /** Whether keys and counters can be asked for, with a question that changes nothing: null is well. */
  async problem(): Promise<string | null> {
    const { answer, now } = await this.#questions.ask({ kind: "authenticate", hash: "0".repeat(64) });
    if (answer.kind !== "record") return "keys cannot be read";
    return now === null ? "the counters do not answer" : null;
  }

  async #deadline(caller: Caller): Promise<number | null> {
    if (this.#clockOffset === null) await this.#ask({ kind: "authenticate", hash: caller.hash }).catch(() => null);
    return this.#clockOffset === null ? null : Math.floor(this.#clockOffset + this.#clock.monotonic()) + admissionDeadlineMs;
  }

  async #admitPatiently(caller: Caller, ask: AdmitAsk): Promise<Told> {
    try {
      return await this.#patiently(ask);
    } catch (error) {
      if (error instanceof NoAnswerError) this.voids.add(caller.record.workspace, ask.generation);
      if (error instanceof NoAnswerError || error instanceof NotAskedError)
        throw new GatewayError("billing_unavailable", { cause: error });
      throw error;
    }
  }

  /** "Again" means that counters are being loaded; for that a request waits up to a second. */
  async #patiently(ask: Ask): Promise<Told> {
    const endsAt = this.#clock.monotonic() + rebuildWaitMs;
    let resent = false;
    for (;;) {
      const told = await this.#questions.ask(ask);
      resent ||= told.resent;
      if (told.answer.kind !== "again" || this.#clock.monotonic() >= endsAt) return { ...told, resent };
      await sleep(this.#clock, askAgainMs);
    }
  }

  async #ask(ask: Ask): Promise<Answer> {
    return (await this.#questions.ask(ask)).answer;
  }
}
