/**
 * Admission's worker side: answers one message of questions at a time. It keeps nothing but caches, so any worker
 * can answer any message, and the same message twice does no harm.
 */
import type { Bus } from "../backing/bus.ts";
import { CountersUnavailableError, type AdmitReply, type Counters } from "../backing/counters.ts";
import { isoTime, monthOf, sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { loadPatienceMs, storeTimeAgeMsMax } from "../limits/constants.ts";
import { answerOf, prepare, type ModelsView, type Prepared } from "./decide.ts";
import { Loads } from "./loads.ts";
import { loadKeyMonth, loadWorkspace, refreshAccount, type LoadStore } from "./load.ts";
import { decodeAsks, encodeAnswers } from "./codec.ts";
import { Records, type CachedRecord, type FindRecords } from "./records.ts";
import { recordOnBus } from "./record-on-bus.ts";
import type { AdmitAsk, Answer, Ask } from "./message.ts";
import type { MeteringWatch } from "./metering-watch.ts";

export interface AdmissionParts {
  bus: Bus;
  counters: Counters;
  store: LoadStore;
  findRecords: FindRecords;
  models: ModelsView;
  metering: Pick<MeteringWatch, "behind">;
  clock: Clock;
  log: Logger;
}

interface Pending {
  index: number;
  ask: AdmitAsk;
  prepared: Prepared;
}

export class AdmissionService {
  readonly records: Records;
  readonly #parts: AdmissionParts;
  readonly #loads: Loads;
  /** The counters' clock minus our monotonic one, from the last reply. */
  #clockOffset: number | null = null;
  #timeNotedAt = -Infinity;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#loads = new Loads(parts.clock, parts.log);
    this.records = new Records(parts.findRecords, parts.clock);
  }

  /** Answers a message of the bus. Throws only on bytes that are no message. */
  async answer(payload: Uint8Array): Promise<Uint8Array> {
    const { asks } = decodeAsks(payload);
    const records = await this.#recordsOf(asks);
    const answers: Answer[] = asks.map(() => ({ kind: "refused", code: "internal_error" }));
    await Promise.all([this.#admitAll(asks, records, answers), this.#answerRest(asks, records, answers)]);
    return encodeAnswers({ now: await this.#storeTime(), answers });
  }

  /** null in the map's place: the database did not answer and nothing young enough is cached. */
  async #recordsOf(asks: Ask[]): Promise<Map<string, CachedRecord>> {
    const hashes = [...new Set(asks.flatMap((ask) => (ask.kind === "admit" || ask.kind === "authenticate" ? [ask.hash] : [])))];
    try {
      return await this.records.get(hashes);
    } catch (error) {
      this.#parts.log.warn({ event: "records.unavailable", reason: String(error) }, "Key records cannot be read");
      const cached = hashes.flatMap((hash) => {
        const entry = this.records.cached(hash);
        return entry ? [[hash, entry] as const] : [];
      });
      return new Map(cached);
    }
  }

  async #admitAll(asks: Ask[], records: Map<string, CachedRecord>, answers: Answer[]): Promise<void> {
    const pending: Pending[] = [];
    for (const [index, ask] of asks.entries()) {
      if (ask.kind !== "admit") continue;
      const entry = records.get(ask.hash);
      const prepared = entry ? prepare(ask, entry.record, this.#parts.models) : unavailable("auth_unavailable");
      if ("kind" in prepared) answers[index] = prepared;
      else if (ask.deadline === null || this.#parts.metering.behind()) answers[index] = unavailable("billing_unavailable");
      else pending.push({ index, ask, prepared });
    }
    if (pending.length === 0) return;
    try {
      const undecided = await this.#admitOnce(pending, answers);
      if (undecided.length > 0) await this.#admitOnce(undecided, answers);
    } catch (error) {
      if (!(error instanceof CountersUnavailableError)) throw error;
      for (const { index } of pending) answers[index] = unavailable("billing_unavailable");
    }
  }

  /** Returns what may be decided now that its counters are loaded; the rest has its answer, at worst "again". */
  async #admitOnce(pending: Pending[], answers: Answer[]): Promise<Pending[]> {
    const month = monthOf(this.#storeTimeGuess());
    const { now, replies } = await this.#parts.counters.admitMany({
      month,
      requests: pending.map(({ prepared }) => prepared.request),
    });
    this.#noteTime(now);
    const undecided: Pending[] = [];
    const loads: Promise<void>[] = [];
    for (const [position, item] of pending.entries()) {
      const reply = replies[position];
      if (!reply) throw new Error(`Cannot admit: the counters gave ${replies.length} replies to ${pending.length} requests`);
      answers[item.index] = answerOf(item.prepared, item.ask, reply);
      const load = this.#loadFor(item, reply, month);
      if (load) loads.push(load);
      if (load || reply.outcome === "wrong_month") undecided.push(item);
    }
    await Promise.race([Promise.all(loads), sleep(this.#parts.clock, loads.length > 0 ? loadPatienceMs : 0)]);
    return undecided;
  }

  #loadFor({ prepared: { request } }: Pending, reply: AdmitReply, month: string): Promise<void> | null {
    if (reply.outcome !== "not_ready") return null;
    const { workspace, key } = request;
    switch (reply.what) {
      case "workspace":
        return this.#loads.run(`workspace ${workspace}`, () => loadWorkspace({ workspace, month }, this.#parts));
      case "month":
        return this.#loads.run(`month ${workspace}`, () => refreshAccount({ workspace, month }, this.#parts));
      case "key":
        return this.#loads.run(`key ${key} ${month}`, () => loadKeyMonth({ workspace, key, month }, this.#parts));
    }
  }

  async #answerRest(asks: Ask[], records: Map<string, CachedRecord>, answers: Answer[]): Promise<void> {
    const voids: { index: number; workspace: string; generation: string }[] = [];
    const others: Promise<void>[] = [];
    for (const [index, ask] of asks.entries()) {
      if (ask.kind === "authenticate") answers[index] = this.#recordAnswer(records.get(ask.hash));
      else if (ask.kind === "void") voids.push({ index, workspace: ask.workspace, generation: ask.generation });
      else if (ask.kind !== "admit") others.push(this.#answerOne(ask).then((answer) => void (answers[index] = answer)));
    }
    if (voids.length > 0) others.push(this.#voidAll(voids, answers));
    await Promise.all(others);
  }

  #recordAnswer(entry: CachedRecord | undefined): Answer {
    if (!entry) return unavailable("auth_unavailable");
    const ageMs = Math.ceil(this.#parts.clock.monotonic() - entry.readAt);
    return { kind: "record", ageMs, record: entry.record && recordOnBus(entry.record) };
  }

  async #voidAll(voids: { index: number; workspace: string; generation: string }[], answers: Answer[]): Promise<void> {
    const resolve = voids.map(({ workspace, generation }) => ({ workspace, generation, as: "void" as const }));
    const answer = await this.#guarded(async () => {
      await this.#parts.counters.resolveMany({ resolve, accounts: [], keyMonths: [] });
      return { kind: "done" };
    });
    for (const { index } of voids) answers[index] = answer;
  }

  #answerOne(ask: Extract<Ask, { kind: "position" | "refresh" }>): Promise<Answer> {
    return this.#guarded(async () => {
      if (ask.kind === "refresh") {
        await refreshAccount({ workspace: ask.workspace, month: monthOf(this.#storeTimeGuess()) }, this.#parts);
        return { kind: "done" };
      }
      return this.#position(ask.workspace, ask.key);
    });
  }

  async #position(workspace: string, key: string | null): Promise<Answer> {
    const position = await this.#parts.counters.read(workspace, key);
    const month = monthOf(position.now);
    if (position.account === null) {
      await this.#loads.run(`workspace ${workspace}`, () => loadWorkspace({ workspace, month }, this.#parts));
      return { kind: "again" };
    }
    if (key !== null && position.keySpent === null) {
      await this.#loads.run(`key ${key} ${month}`, () => loadKeyMonth({ workspace, key, month }, this.#parts));
      return { kind: "again" };
    }
    const { balance, reserved, available } = position.account;
    return {
      kind: "position",
      balance: balance.toString(),
      reserved: reserved.toString(),
      available: available.toString(),
      keySpent: position.keySpent?.toString() ?? null,
      month,
    };
  }

  async #guarded(answer: () => Promise<Answer>): Promise<Answer> {
    try {
      return await answer();
    } catch (error) {
      this.#parts.log.warn({ event: "admission.unavailable", reason: String(error), at: isoTime(this.#parts.clock.now()) });
      return unavailable("billing_unavailable");
    }
  }

  #storeTimeGuess(): number {
    return this.#clockOffset === null ? this.#parts.clock.now() : this.#clockOffset + this.#parts.clock.monotonic();
  }

  /** The time that fronts reckon deadlines from; the counters are asked only where no recent reply told it. */
  async #storeTime(): Promise<number | null> {
    if (this.#parts.clock.monotonic() - this.#timeNotedAt < storeTimeAgeMsMax) return this.#storeTimeGuess();
    try {
      this.#noteTime(await this.#parts.counters.now());
      return this.#storeTimeGuess();
    } catch {
      return null;
    }
  }

  #noteTime(now: number): void {
    this.#timeNotedAt = this.#parts.clock.monotonic();
    this.#clockOffset = now - this.#parts.clock.monotonic();
  }
}

function unavailable(code: "auth_unavailable" | "billing_unavailable"): Answer & { kind: "refused" } {
  return { kind: "refused", code };
}
