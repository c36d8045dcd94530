/** The front's journal of generations: opened before a provider is called, closed by exactly one settlement. */
import type { Bus } from "../../backing/bus.ts";
import type { Reservation } from "../credit/reservation.ts";
import { raiseAlarm } from "../../kernel/alarm.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { progressMs, pruneMs, unsettledMax } from "../limits.ts";
import { decodeReportRequest, encodeOpenReport } from "./open-report.ts";
import { OpenGenerations } from "./open-generations.ts";
import { SettlementPublisher } from "./settlement-publisher.ts";
import { ProgressTracker, type Progress } from "./progress.ts";
import { Spool } from "./spool.ts";
import type { SpoolFiles } from "./spool-files.ts";
import type { AdmissionIntent, GenerationIntent } from "./spool-line.ts";
import { encodeSettlement } from "./settlement-codec.ts";
import type { Settlement } from "./settlement.ts";
import { interruptedSettlement } from "./crash-settlement.ts";

export interface JournalParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** A folder of this process alone, locked by the caller. */
  folder: string;
  /** Absent: those of the disk. */
  files?: SpoolFiles;
}

export class GenerationJournal implements Disposable {
  readonly #spool: Spool;
  readonly #open = new OpenGenerations();
  readonly #publisher: SettlementPublisher;
  readonly #reporting: Disposable;
  readonly #reportListeners: ((workspace: WorkspaceId) => void)[] = [];
  readonly #parts: JournalParts;
  readonly #progress = new ProgressTracker();
  #cancelProgress: (() => void) | null = null;
  #cancelPrune = (): void => {};

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#spool = new Spool(parts.folder, parts.clock, parts.files);
    this.#publisher = new SettlementPublisher({ ...parts, onConfirmed: (generations) => this.#confirmed(generations) });
    this.#reporting = parts.bus.serveScatter("open-generations", (payload) => {
      const { workspace } = decodeReportRequest(payload);
      for (const listener of this.#reportListeners) listener(workspace);
      return encodeOpenReport(this.#open.report(workspace));
    });
    this.#prune();
  }

  /** Generations that the ledger has not confirmed. */
  get unsettled(): number {
    return this.#open.size;
  }

  /** False while nothing more may be owed: the disk takes no line, or too much waits for the ledger. */
  accepting(): boolean {
    this.#spool.probe();
    return this.#spool.working && this.#open.size < unsettledMax;
  }

  /**
   * Takes up what an earlier owner of the folder left: what it settled is published again, what it had sent to a provider is charged
   * as far as it was delivered, and what it had not sent is reported as unknown and charged nothing. Returns how many of each, and
   * admissions that the caller must give up.
   */
  recover(): { settled: number; interrupted: number; unknown: number; pendingAdmissions: AdmissionIntent[] } {
    const { intents, settlements, interrupted, pendingAdmissions } = this.#spool.takeRecovered();
    for (const intent of intents) this.#open.add(intent, this.#parts.clock.monotonic());
    for (const settlement of settlements) this.#publisher.add(settlement.generation, encodeSettlement(settlement));
    const ends = interrupted.map((one) => interruptedSettlement(one, this.#parts.clock.now()));
    for (const end of ends) void this.end(end);
    this.flush();
    const unknown = ends.filter(({ outcome }) => outcome === "unknown").length;
    return { settled: settlements.length, interrupted: ends.length - unknown, unknown, pendingAdmissions };
  }

  /**
   * Before admission is asked: should this process die before it hears, its successor gives these up.
   * @throws Error when it cannot be written: then nothing may be asked
   */
  recordIntents(intents: AdmissionIntent[]): void {
    this.#spool.writeAdmissions(intents);
  }

  /**
   * Has `listener` called in the turn in which what is open in a workspace is reported: what becomes open later is in no report
   * that was made before.
   */
  onReport(listener: (workspace: WorkspaceId) => void): void {
    this.#reportListeners.push(listener);
  }

  /**
   * Before the provider is called.
   * @throws GatewayError billing_unavailable when the intent cannot be written, or when too much waits for the ledger: then the
   *   provider must not be called
   */
  async begin(
    reservation: Reservation,
    facts: Pick<GenerationIntent, "fingerprint" | "model" | "streamed" | "owed">,
  ): Promise<void> {
    if (this.#open.size >= unsettledMax) throw new GatewayError("billing_unavailable");
    const { generation, request, workspace, key, month, admittedAt } = reservation;
    const intent: GenerationIntent = {
      generation,
      request,
      workspace,
      key,
      month,
      admittedAt,
      amount: reservation.amount.toString(),
      ...facts,
    };
    // Before the line is written, so that nobody who rebuilds the counters meanwhile misses it.
    this.#open.add(intent, this.#parts.clock.monotonic());
    try {
      await this.#spool.writeIntent(intent);
    } catch (error) {
      this.#open.remove(generation);
      raiseAlarm(
        this.#parts.log,
        "spool.failed",
        { reason: String(error) },
        "The spool cannot be written: no request is admitted",
      );
      throw new GatewayError("billing_unavailable", { cause: error });
    }
  }

  /** Until it ends, `read` tells how far it is: the spool is told once a second, for whoever takes it over. */
  track(generation: GenerationId, read: () => Progress): void {
    this.#progress.track(generation, read);
    this.#cancelProgress ??= this.#parts.clock.after(progressMs, () => this.#writeProgress());
  }

  /**
   * Once for each generation. When this resolves its client may have the whole answer: it is charged whatever dies. `flush`
   * makes it so at once.
   */
  async end(settlement: Settlement): Promise<void> {
    const { generation } = settlement;
    this.#progress.forget(generation);
    const text = encodeSettlement(settlement);
    this.#publisher.add(generation, text);
    try {
      await this.#spool.writeSettlement(generation, text);
    } catch (error) {
      const facts = { generation, reason: String(error) };
      raiseAlarm(this.#parts.log, "spool.failed", facts, "A settlement is in memory only: it is lost if the process dies now");
    }
  }

  /** Writes now what else would be written at the end of the event loop's turn. */
  flush(): void {
    this.#spool.flush();
  }

  /** Resolves true when the ledger has all that ended. */
  flushed(deadlineMs: number): Promise<boolean> {
    return this.#publisher.flushed(deadlineMs);
  }

  [Symbol.dispose](): void {
    this.#cancelPrune();
    this.#cancelProgress?.();
    this.#reporting[Symbol.dispose]();
    this.#publisher[Symbol.dispose]();
    this.#spool[Symbol.dispose]();
  }

  /** A line that cannot be written is written again with the next: the disk that is full is told of elsewhere. */
  #writeProgress(): void {
    const { clock } = this.#parts;
    const news = this.#progress.changes(clock.monotonic());
    try {
      if (news !== null) this.#spool.writeProgress(news);
    } catch {
      // The spool refuses admissions from here on, and says so.
      this.#progress.markUnwritten();
    }
    this.#cancelProgress = this.#progress.size === 0 ? null : clock.after(progressMs, () => this.#writeProgress());
  }

  #confirmed(generations: string[]): void {
    for (const generation of generations) this.#open.remove(generation);
    this.#spool.confirm(generations);
  }

  #prune(): void {
    this.#cancelPrune = this.#parts.clock.after(pruneMs, () => {
      this.#open.prune(this.#parts.clock.monotonic() - 2 * rateWindowMs);
      this.#spool.confirm([]);
      this.#prune();
    });
  }
}
