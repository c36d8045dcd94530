/**
 * The gateway's side of admission: checks 1, 3, 4 and 5. A request is decided by a block that a worker has lent (lent-blocks.ts), or else
 * by a worker. Each request ends as an admission or as a GatewayError. It promises that no hold is left over and none is missing. An
 * outcome that is unknown (no reply, a late reply) is released until a worker confirms it, and the tombstone of a release refuses an
 * admission that arrives later. Counters that are rebuilt while a reply is under way may lack its hold: the report that the rebuild asks
 * for marks the request, and the client sends it again. A request that cannot be decided in time is refused with `billing_unavailable`. No
 * request is served on a guess.
 */
import { hash } from "node:crypto";
import type { Bus } from "../../backing/bus.ts";
import { admissionDeadlineMs } from "../../backing/limits.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { asSent, GatewayError } from "../../kernel/errors.ts";
import { newGenerationId, newRequestId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { measureAdmission } from "../../kernel/metrics.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { reservationFrom, type Reservation } from "../credit/reservation.ts";
import type { GenerationJournal, TakenOver } from "../journal/journal.ts";
import type { AdmissionIntent } from "../journal/spool-line.ts";
import { admissionRetryMs, rebuildWaitMs } from "../limits.ts";
import { unavailableMessage } from "../models/availability.ts";
import { AvailableCredit, type CountedAsked, type CountedCredit, type CreditPosition } from "./available-credit.ts";
import { RequestNotSentError, RequestBatcher, PendingReleases } from "./batcher.ts";
import { price, type Priced, type ModelsView } from "./decide.ts";
import { GatewayKeyCache } from "./key-cache.ts";
import { LentBlocks } from "./lent-blocks.ts";
import type {
  Admission,
  Caller,
  RequestFacts,
  AdmitGeneration,
  AdmissionReply,
  AdmissionRequest,
  RecordOnBus,
  Refused,
  WindowOnBus,
} from "./message.ts";

/** Refused at checks 1 to 5. `window` is present when the rate check was reached. */
export class RefusedError extends GatewayError {
  override name = "RefusedError";
  readonly window: WindowOnBus | null;
  readonly retryAfterMs: number | null;
  /** The generation that the idempotency key is spent on; null: none. */
  readonly spentOn: GenerationId | null;

  constructor(refused: Refused, { model, candidates, field }: Pick<RequestFacts, "model" | "candidates" | "field">) {
    const named = candidates?.[0]?.[0] ?? model;
    const message = refused.reason ? unavailableMessage(asSent(named), refused.reason) : markedAtItsEnd(refused.message, named);
    const shouldRetry = refused.reason === "catalog_unreadable" ? true : undefined;
    const param = refused.param === "model" ? (field ?? "model") : refused.param;
    const { generation } = refused;
    super(refused.code, {
      message,
      param,
      shouldRetry,
      model: named,
      ...(generation && { headers: { "x-generation-id": generation } }),
    });
    this.window = refused.window ?? null;
    this.retryAfterMs = refused.retryAfterMs ?? null;
    this.spentOn = generation ?? null;
  }
}

/** A worker's message ends with the id of a model that the catalog lacks. */
function markedAtItsEnd(message: string | undefined, model: string): string | undefined {
  return message?.endsWith(` ${model}`) ? message.slice(0, -model.length) + asSent(model) : message;
}

type Admitted = Extract<AdmissionReply, { kind: "admitted" }>;

/** The part of the journal that admission needs. If this process dies, its successor releases the holds of recorded intents. */
type Journal = Pick<GenerationJournal, "recordIntents" | "onReport" | "onMissed" | "noteAdmission" | "useBlocks">;

interface ClientParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  journal: Journal;
  /** Prices requests that are decided here; absent: a worker decides each. */
  models?: ModelsView;
  /** How many keys are cached; absent: `recordsCachedMax`. */
  recordsMax?: number;
}

export class AdmissionClient {
  readonly releases: PendingReleases;
  readonly blocks: LentBlocks;
  readonly #batcher: RequestBatcher;
  readonly #clock: Clock;
  readonly #keys: GatewayKeyCache;
  readonly #pending: PendingAdmissions;
  readonly #journal: Journal;
  readonly #models: ModelsView | null;
  readonly #credit: AvailableCredit;
  /** The counters' clock minus this process's monotonic clock. Never too large, since a reply takes time to arrive. */
  #clockOffset: number | null = null;

  constructor({ bus, clock, log, journal, models, recordsMax }: ClientParts) {
    this.#clock = clock;
    this.#journal = journal;
    this.#models = models ?? null;
    this.#keys = new GatewayKeyCache(clock, recordsMax);
    this.#pending = new PendingAdmissions();
    journal.onReport((workspace) => this.#pending.markReported(workspace));
    journal.onMissed((admitted) => this.#reload(admitted));
    this.#batcher = new RequestBatcher({
      bus,
      clock,
      onCountersTime: (now) => (this.#clockOffset = now - clock.monotonic()),
      recordIntents: (intents, blocks) => journal.recordIntents(intents, blocks),
    });
    this.releases = new PendingReleases(this.#batcher, clock, log);
    this.blocks = new LentBlocks({ batcher: this.#batcher, bus, clock, deadline: () => this.#deadline(), keysMax: recordsMax });
    journal.useBlocks(this.blocks);
    this.#credit = new AvailableCredit({ bus, clock, read: (asked) => this.#countedCredit(asked) });
    bus.listen("counters-lost", () => this.blocks.endAll());
    bus.listen("records-changed", () => {
      this.#keys.clear();
      this.blocks.endAll();
    });
  }

  /**
   * Check 1: is the key valid?
   * @returns null when the key cannot be used
   * @throws GatewayError auth_unavailable when the key cannot be looked up
   */
  async authenticate(hash: string): Promise<Caller | null> {
    const cached = this.#keys.get(hash);
    if (cached !== undefined) return cached && { hash, record: cached };
    const sent = { at: this.#clock.monotonic(), version: this.#keys.version() };
    const reply = await this.#send({ kind: "authenticate", hash }).catch(() => null);
    if (reply?.kind !== "record") throw new GatewayError("auth_unavailable");
    this.#keys.set(hash, reply, sent);
    return reply.record && { hash, record: reply.record };
  }

  /**
   * Checks 3, 4 and 5 in one atomic step, and check 1 again. Far from all limits a block that a worker has lent decides at once.
   * @throws RefusedError with the first problem; GatewayError billing_unavailable when no decision was reached
   */
  async admit(caller: Caller, facts: RequestFacts): Promise<Admission> {
    const lent = this.#admitWithBlock(caller, facts);
    if (lent !== null) return lent;
    if (this.#clockOffset === null) await this.#fetchCountersTime(caller);
    const now = this.#clock.now();
    const generation = newGenerationId(now);
    // Field by field, since `facts` may carry more than its type shows: the body must not be sent.
    const { model, inputTokens, promptTokens, maxTokens, tools, candidates, claim } = facts;
    const estimate = promptTokens === undefined ? {} : { promptTokens };
    const fields = { hash: caller.hash, model, inputTokens, ...estimate, maxTokens, tools, ...(candidates && { candidates }) };
    const fingerprint = fingerprintOf(fields);
    const askedAt = this.#clock.monotonic();
    const decision = await this.#measured(caller, {
      kind: "admit",
      generation,
      ...fields,
      ...(caller.record.ownKeys && { ownKeys: caller.record.ownKeys.map(({ id }) => id) }),
      ...(claim && { claim }),
      deadline: this.#deadline(),
      fingerprint,
    });
    if (decision.kind === "refused") throw new RefusedError(decision, facts);
    const { at: admittedAt, month, maxOutputTokens, window } = decision;
    const { workspace, id: key } = caller.record;
    const request = newRequestId(now);
    const amount = BigInt(decision.amount);
    const ids = { generation, request, workspace, key, ...(claim && { claim }) };
    const reservation = reservationFrom({ ...ids, month, amount, admittedAt, maxOutputTokens });
    const times = { askedAt, decidedAt: this.#clock.monotonic() };
    if (this.#models !== null && !claim) this.blocks.noteRequest(caller, amount, times.decidedAt);
    return { reservation, decision: times, fingerprint, window, priced: decision.priced ?? null };
  }

  /** null: a worker must decide. */
  #admitWithBlock(caller: Caller, facts: RequestFacts): Admission | null {
    const { record } = caller;
    // Only the counters know who has a claim.
    if (facts.claim) return null;
    const askedAt = this.#clock.monotonic();
    const block = this.#models && this.blocks.find(record.id, askedAt);
    const priced = block && this.#price(record, facts);
    if (!block || !priced) return null;
    const { amount, maxOutputTokens, routed } = priced;
    const admittedAt = block.take(amount, askedAt);
    if (admittedAt === null) return null;
    const { workspace, id: key } = record;
    this.#journal.noteAdmission({ workspace, key, admittedAt });
    this.blocks.noteRequest(caller, amount, askedAt);
    const now = this.#clock.now();
    const ids = { generation: newGenerationId(now), request: newRequestId(now), workspace, key, block: block.id };
    const reservation = reservationFrom({ ...ids, month: block.month, amount, admittedAt, maxOutputTokens });
    measureAdmission({ outcome: "admitted", ms: 0 });
    const decision = { askedAt, decidedAt: askedAt };
    return { reservation, decision, fingerprint: "", window: block.window(askedAt), priced: routed?.priced ?? null };
  }

  /** null: it cannot be called, or not priced; a worker says why. */
  #price(record: RecordOnBus, facts: RequestFacts): Priced | null {
    if (this.#models === null || (record.ownKeys?.length ?? 0) > 0) return null;
    try {
      const priced = price(facts, record, this.#models);
      return priced.refusal === null ? priced : null;
    } catch {
      return null;
    }
  }

  /**
   * Takes over what a gateway left that died or ended: its pending admissions are released, its blocks returned, and counters that were
   * loaded without its report are loaded again. Its journal must report by now.
   */
  takeOver({ pendingAdmissions, blocks, admitted }: TakenOver): void {
    for (const { workspace, generation } of pendingAdmissions) this.releases.add(workspace, generation);
    this.blocks.adopt(blocks);
    this.#reload(admitted);
  }

  /** Releases an admission that was not used. */
  release({ workspace, generation, block, amount }: Reservation): void {
    if (block === undefined) this.releases.add(workspace, generation);
    else this.blocks.giveBack(block, amount);
  }

  /** Credit and month for GET /key and the control API; null when the counters do not answer. */
  position(workspace: WorkspaceId, key: KeyId | null): Promise<CreditPosition | null> {
    return this.#credit.position({ workspace, key }).catch(() => null);
  }

  /** What the open requests of each key reserve; keys without one are absent. null: the gateways cannot be asked. */
  reservedByKey(workspace: WorkspaceId): Promise<ReadonlyMap<KeyId, NanoUsd> | null> {
    return this.#credit.reservedByKey(workspace).catch(() => null);
  }

  /**
   * The credit that must stay when credit is taken away, after gateways have returned what they were lent; null when the counters do not
   * answer.
   */
  async held(workspace: WorkspaceId): Promise<NanoUsd | null> {
    const counted = await this.#countedCredit({ workspace, key: null, blocks: [], recall: true }).catch(() => null);
    return counted?.reserved ?? null;
  }

  async #countedCredit(asked: CountedAsked & { recall?: true }): Promise<CountedCredit | null> {
    const reply = await this.#sendUntilLoaded({ kind: "position", ...asked });
    if (reply.kind !== "position") return null;
    const { balance, reserved, lent, blocks, keySpent, month } = reply;
    return {
      balance: BigInt(balance),
      reserved: BigInt(reserved),
      lent: BigInt(lent),
      blocks: new Map(asked.blocks.map((block, index) => [block, BigInt(blocks[index] ?? 0)])),
      keySpent: keySpent === null ? null : BigInt(keySpent),
      month,
    };
  }

  /** Updates a workspace's counters after credit was added to its ledger. Best effort: metering reconciles them each minute. */
  async refresh(workspace: WorkspaceId): Promise<void> {
    await this.#send({ kind: "refresh", workspace }).catch(() => null);
  }

  /** The problem with keys or counters, found by a request that changes nothing; null: both answer. */
  async problem(): Promise<string | null> {
    const { reply, now } = await this.#batcher.send({ kind: "authenticate", hash: "0".repeat(64) });
    if (reply.kind !== "record") return "keys cannot be read";
    return now === null ? "the counters do not answer" : null;
  }

  /** Every reply carries the counters' time. */
  async #fetchCountersTime({ hash }: Caller): Promise<void> {
    await this.#send({ kind: "authenticate", hash }).catch(() => null);
  }

  /** Milliseconds of the counters' clock, never ahead of it; null: there is no reading yet. */
  countersTime(): number | null {
    return this.#clockOffset === null ? null : Math.floor(this.#clockOffset + this.#clock.monotonic());
  }

  /** Counters that were loaded without this process's report lack what it had admitted. */
  #reload(admitted: TakenOver["admitted"]): void {
    for (const [workspace, admittedAt] of admitted) this.releases.reload({ workspace, admittedAt });
  }

  #deadline(): number | null {
    return this.#clockOffset === null ? null : Math.floor(this.#clockOffset + this.#clock.monotonic()) + admissionDeadlineMs;
  }

  async #measured(caller: Caller, request: AdmitGeneration): Promise<Admitted | Refused> {
    const startedAt = this.#clock.monotonic();
    const measure = (outcome: string): void => measureAdmission({ outcome, ms: this.#clock.monotonic() - startedAt });
    try {
      const decision = await this.#decide(caller, request);
      measure(decision.kind === "admitted" ? "admitted" : decision.code);
      return decision;
    } catch (error) {
      measure("billing_unavailable");
      throw error;
    }
  }

  /**
   * Sends the request until its decision is final. "Again" means that counters are being loaded: the request is repeated for up to
   * a second. If counters were rebuilt before the reply arrived, the request is repeated at once. A hold that may exist without a
   * decision is released.
   */
  async #decide({ record: { workspace } }: Caller, request: AdmitGeneration): Promise<Admitted | Refused> {
    const pending = this.#pending.open(workspace);
    const intent: AdmissionIntent = { workspace, generation: request.generation };
    const endsAt = this.#clock.monotonic() + rebuildWaitMs;
    let mayBeHeld = false;
    try {
      for (;;) {
        const { reply, resent } = await this.#batcher.send(request, intent);
        const wasRebuilt = pending.reported;
        pending.reported = false;
        if (reply.kind === "admitted" && !wasRebuilt) return reply;
        mayBeHeld ||= resent || reply.kind === "admitted" || isOutcomeUnknown(reply);
        const refused = reply.kind === "refused" ? reply : null;
        if (refused === null && this.#clock.monotonic() < endsAt) {
          if (reply.kind === "again") await sleep(this.#clock, admissionRetryMs);
          continue;
        }
        if (mayBeHeld) this.releases.add(workspace, request.generation);
        return refused ?? { kind: "refused", code: "billing_unavailable" };
      }
    } catch (error) {
      if (mayBeHeld || !(error instanceof RequestNotSentError)) this.releases.add(workspace, request.generation);
      throw new GatewayError("billing_unavailable", { cause: error });
    } finally {
      this.#pending.close(pending);
    }
  }

  async #sendUntilLoaded(request: AdmissionRequest): Promise<AdmissionReply> {
    const endsAt = this.#clock.monotonic() + rebuildWaitMs;
    for (;;) {
      const reply = await this.#send(request);
      if (reply.kind !== "again" || this.#clock.monotonic() >= endsAt) return reply;
      await sleep(this.#clock, admissionRetryMs);
    }
  }

  async #send(request: AdmissionRequest): Promise<AdmissionReply> {
    return (await this.#batcher.send(request)).reply;
  }
}

/** Distinguishes two admissions of one generation id. The gateway computes it; worker, counters and spool pass it on. */
export function fingerprintOf(
  facts: Pick<AdmitGeneration, "hash" | "model" | "inputTokens" | "promptTokens" | "maxTokens" | "tools" | "candidates">,
): string {
  const values: unknown[] = [facts.hash, facts.model, facts.inputTokens, facts.maxTokens, facts.tools];
  if (facts.candidates !== undefined) values.push(facts.candidates);
  if (facts.promptTokens !== undefined) values.push({ promptTokens: facts.promptTokens });
  const text = JSON.stringify(values);
  return hash("sha256", text, "hex").slice(0, 16);
}

interface PendingAdmission {
  workspace: WorkspaceId;
  /** Whether a report was made since the request was sent. The client clears it before it repeats the request. */
  reported: boolean;
}

/**
 * Admission requests without a reply. Counters that are rebuilt before the reply arrives lack their holds, since the gateway's report
 * of open generations cannot name them. That report therefore marks them, in the same turn of the event loop, and the client repeats a
 * request that was admitted under the mark.
 */
class PendingAdmissions {
  readonly #open = new Set<PendingAdmission>();

  /** Call it for each report of a workspace's open generations. */
  markReported(workspace: WorkspaceId): void {
    for (const pending of this.#open) if (pending.workspace === workspace) pending.reported = true;
  }

  /** Call it before the request is sent. */
  open(workspace: WorkspaceId): PendingAdmission {
    const pending = { workspace, reported: false };
    this.#open.add(pending);
    return pending;
  }

  /** Call it when the generation is in the journal or released. */
  close(pending: PendingAdmission): void {
    this.#open.delete(pending);
  }
}

/** Whether the counters may have admitted the request despite this reply. */
function isOutcomeUnknown(reply: AdmissionReply): boolean {
  return reply.kind === "refused" && (reply.code === "billing_unavailable" || reply.code === "internal_error");
}
