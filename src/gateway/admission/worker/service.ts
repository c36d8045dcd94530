/**
 * Admission's worker side: answers one message of questions at a time. It keeps nothing but caches, so any worker
 * can answer any message, and the same message twice does no harm.
 */
import type { Bus } from "../../../backing/bus.ts";
import { CountersUnavailableError, type AdmitBatch, type AdmitReply, type Counters } from "../../../backing/counters.ts";
import { monthOf, withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { recordLookupMs, countersTimeAgeMsMax } from "../../limits.ts";
import { replyFor, prepare, type ModelsView, type Prepared } from "../decide.ts";
import { LedgerRollbackCheck } from "./ledger-rollback-check.ts";
import { SingleFlightLoads } from "./single-flight-loads.ts";
import { refreshAccount, type LoadStore } from "./load.ts";
import { decodeRequests, encodeReplies } from "../codec.ts";
import { KeyRecordCache, type CachedRecord, type FindRecords } from "./key-record-cache.ts";
import { recordOnBus } from "../record-on-bus.ts";
import type { AdmitGeneration, AdmissionReply, AdmissionRequest, Refused } from "../message.ts";
import type { MeteringLagGuard } from "./metering-lag-guard.ts";
import { loadRoundsMax, LoadDeadline } from "./load-deadline.ts";
import { readPosition } from "./position.ts";

export interface AdmissionParts {
  bus: Bus;
  counters: Counters;
  store: LoadStore;
  findRecords: FindRecords;
  models: ModelsView;
  metering: Pick<MeteringLagGuard, "behind">;
  clock: Clock;
  log: Logger;
  /** How many keys are remembered; absent: `recordsCachedMax`. */
  recordsMax?: number;
}

interface Pending {
  index: number;
  admit: AdmitGeneration;
  prepared: Prepared;
}

interface Release {
  index: number;
  workspace: WorkspaceId;
  generation: GenerationId;
}

export class AdmissionService {
  readonly keyRecords: KeyRecordCache;
  readonly #parts: AdmissionParts;
  readonly #loads: SingleFlightLoads;
  readonly #rollbackCheck: LedgerRollbackCheck;
  /** The counters' clock minus our monotonic one, from the last reply. */
  #clockOffset: number | null = null;
  #timeRecordedAt = -Infinity;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#loads = new SingleFlightLoads(parts);
    this.#rollbackCheck = new LedgerRollbackCheck(parts);
    this.keyRecords = new KeyRecordCache(parts.findRecords, parts.clock, parts.recordsMax);
  }

  /** Answers a message of the bus. Throws only on bytes that are no message. */
  async reply(payload: Uint8Array): Promise<Uint8Array> {
    const { asks } = decodeRequests(payload);
    const records = await this.#recordsOf(asks);
    const answers: AdmissionReply[] = asks.map(() => ({ kind: "refused", code: "internal_error" }));
    const admits: Pending[] = [];
    const voids: Release[] = [];
    const others: Promise<void>[] = [];
    for (const [index, ask] of asks.entries()) {
      if (ask.kind === "admit") {
        const prepared = this.#prepare(ask, records[index]);
        if ("kind" in prepared) answers[index] = prepared;
        else admits.push({ index, admit: ask, prepared });
      } else if (ask.kind === "authenticate") answers[index] = this.#keyRecordReply(records[index]);
      else if (ask.kind === "void") voids.push({ index, workspace: ask.workspace, generation: ask.generation });
      else others.push(this.#replyToOne(ask).then((answer) => void (answers[index] = answer)));
    }
    await Promise.all([this.#admitAll(admits, answers), this.#releaseAll(voids, answers), ...others]);
    return encodeReplies({ now: await this.#countersTime(), answers });
  }

  /** By the place of the question; undefined where the database did not answer and nothing young enough is cached. */
  async #recordsOf(asks: AdmissionRequest[]): Promise<(CachedRecord | undefined)[]> {
    const records = asks.map((ask) => ("hash" in ask ? this.keyRecords.cached(ask.hash) : undefined));
    const missing = asks.flatMap((ask, index) => ("hash" in ask && !records[index] ? [ask.hash] : []));
    if (missing.length === 0) return records;
    try {
      const read = await this.keyRecords.get(missing);
      return asks.map((ask, index) => records[index] ?? ("hash" in ask ? read.get(ask.hash) : undefined));
    } catch (error) {
      this.#parts.log.warn({ event: "records.unavailable", reason: String(error) }, "Key records cannot be read");
      return records;
    }
  }

  async #admitAll(admits: Pending[], answers: AdmissionReply[]): Promise<void> {
    const unseen = await this.#rollbackCheck.unchecked(admits.map(({ prepared }) => prepared.request.workspace));
    let pending: Pending[] = [];
    for (const admit of admits) {
      if (unseen.has(admit.prepared.request.workspace)) answers[admit.index] = unavailable("billing_unavailable");
      else pending.push(admit);
    }
    const patience = new LoadDeadline(this.#parts.clock);
    for (let round = 0; round < loadRoundsMax && pending.length > 0; round++) {
      const { undecided, loads } = await this.#admitOnce(pending, answers);
      pending = (await patience.wait(loads)) ? undecided : [];
    }
  }

  /** What goes wrong with one question is the answer to that one alone. */
  #prepare(ask: AdmitGeneration, entry: CachedRecord | undefined): Prepared | Refused {
    if (!entry) return unavailable("auth_unavailable");
    try {
      const prepared = prepare(ask, entry.record, this.#parts.models);
      if ("kind" in prepared) return prepared;
      return ask.deadline === null || this.#parts.metering.behind() ? unavailable("billing_unavailable") : prepared;
    } catch (error) {
      this.#parts.log.error(
        { event: "admission.failed", model: ask.model, reason: String(error) },
        "A request could not be priced",
      );
      return { kind: "refused", code: "internal_error" };
    }
  }

  /** Every question has its answer then, at worst "again"; `undecided` may be decided once its counters are loaded. */
  async #admitOnce(pending: Pending[], answers: AdmissionReply[]): Promise<{ undecided: Pending[]; loads: Promise<boolean>[] }> {
    const month = monthOf(this.#estimateCountersTime());
    const replies = await this.#admitInCounters({ month, requests: pending.map(({ prepared }) => prepared.request) });
    const undecided: Pending[] = [];
    const loads: Promise<boolean>[] = [];
    for (const [position, item] of pending.entries()) {
      const reply = replies?.[position];
      answers[item.index] = reply ? replyFor(item.prepared, item.admit, reply) : unavailable("billing_unavailable");
      if (reply?.outcome !== "not_ready" && reply?.outcome !== "wrong_month") continue;
      undecided.push(item);
      const { workspace, key } = item.prepared.request;
      if (reply.outcome === "not_ready") loads.push(this.#loads.run({ what: reply.what, workspace, key, month }));
    }
    return { undecided, loads };
  }

  /** null: the counters gave no reply, and what they did is not known. */
  async #admitInCounters(batch: AdmitBatch): Promise<AdmitReply[] | null> {
    try {
      const { now, replies } = await this.#parts.counters.admitMany(batch);
      this.#recordCountersTime(now);
      return replies;
    } catch (error) {
      if (!(error instanceof CountersUnavailableError))
        this.#parts.log.error({ event: "admission.failed", reason: String(error) }, "Admissions could not be counted");
      return null;
    }
  }

  #keyRecordReply(entry: CachedRecord | undefined): AdmissionReply {
    if (!entry) return unavailable("auth_unavailable");
    const ageMs = Math.ceil(this.#parts.clock.monotonic() - entry.readAt);
    return { kind: "record", ageMs, record: entry.record && recordOnBus(entry.record) };
  }

  async #releaseAll(voids: Release[], answers: AdmissionReply[]): Promise<void> {
    if (voids.length === 0) return;
    const resolve = voids.map(({ workspace, generation }) => ({ workspace, generation, as: "void" as const }));
    const answer = await this.#orUnavailable(async () => {
      await this.#parts.counters.resolveMany({ resolve, accounts: [], keyMonths: [] });
      return { kind: "done" };
    });
    for (const { index } of voids) answers[index] = answer;
  }

  #replyToOne(ask: Extract<AdmissionRequest, { kind: "position" | "refresh" }>): Promise<AdmissionReply> {
    const parts = { ...this.#parts, loads: this.#loads };
    return this.#orUnavailable(async () => {
      if ((await this.#rollbackCheck.unchecked([ask.workspace])).size > 0) return unavailable("billing_unavailable");
      return ask.kind === "refresh" ? this.#refresh(ask.workspace) : readPosition(ask, parts);
    });
  }

  /** Read anew for each question: a read under way may have begun before the credit was added. */
  async #refresh(workspace: string): Promise<AdmissionReply> {
    const refreshed = refreshAccount({ workspace, month: monthOf(this.#estimateCountersTime()) }, this.#parts);
    await withDeadline(this.#parts.clock, recordLookupMs, "Refreshing an account", refreshed);
    return { kind: "done" };
  }

  async #orUnavailable(answer: () => Promise<AdmissionReply>): Promise<AdmissionReply> {
    try {
      return await answer();
    } catch (error) {
      this.#parts.log.warn({ event: "admission.unavailable", reason: String(error) }, "A question could not be answered");
      return unavailable("billing_unavailable");
    }
  }

  #estimateCountersTime(): number {
    return this.#clockOffset === null ? this.#parts.clock.now() : this.#clockOffset + this.#parts.clock.monotonic();
  }

  /** The time that fronts reckon deadlines from; the counters are asked only where no recent reply told it. */
  async #countersTime(): Promise<number | null> {
    if (this.#parts.clock.monotonic() - this.#timeRecordedAt < countersTimeAgeMsMax) return this.#estimateCountersTime();
    try {
      this.#recordCountersTime(await this.#parts.counters.now());
      return this.#estimateCountersTime();
    } catch {
      return null;
    }
  }

  #recordCountersTime(now: number): void {
    this.#timeRecordedAt = this.#parts.clock.monotonic();
    this.#clockOffset = now - this.#parts.clock.monotonic();
  }
}

function unavailable(code: "auth_unavailable" | "billing_unavailable"): Refused {
  return { kind: "refused", code };
}
