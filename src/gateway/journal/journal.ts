/**
 * The gateway's journal of generations: each is opened before its provider is called and closed by exactly one settlement. No provider is
 * called before the intent is on disk, and no client has the end of its answer before the settlement is, so a process that dies owes
 * nothing that its successor cannot read from the spool.
 * The journal joins four parts: the spool (lines on disk), the progress of what is open, the publisher (settlements to the ledger) and the
 * report of what is open, from which counters are rebuilt. The report and the settlements change in the same turn of the event loop, so
 * that a rebuild misses no generation.
 * When the disk takes no line or too many generations wait for the ledger, nothing may begin.
 */
import type { Bus } from "../../backing/bus.ts";
import type { BlockReturn, Hold } from "../../backing/counters.ts";
import { rateWindowMs, holdMs } from "../../backing/limits.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { newInternalId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Reservation } from "../credit/reservation.ts";
import { pruneMs, unsettledMax } from "../limits.ts";
import {
  decodeReportRequest,
  encodeBlockUses,
  encodeOpenReport,
  encodeReserved,
  type BlockUse,
  type OpenReport,
  type ReportRequest,
} from "./open-report.ts";
import { ProgressTracker } from "./progress.ts";
import { SettlementPublisher } from "./publisher.ts";
import { type RecoveredBlock, interruptedSettlement } from "./recovery.ts";
import { encodeSettlement, type Settlement } from "./settlement.ts";
import type { AdmissionIntent, BlockIntent, GenerationIntent } from "./spool-line.ts";
import { Spool, type SpoolFiles } from "./spool.ts";

/** What admission does for an earlier owner of the folder. */
export interface TakenOver {
  pendingAdmissions: AdmissionIntent[];
  blocks: RecoveredBlock[];
  admitted: Admitted;
}

/** When each workspace's last request was admitted, in ms of the counters' clock. */
type Admitted = ReadonlyMap<WorkspaceId, number>;

/** The data that an earlier owner of the folder left. */
interface RecoveredWork extends TakenOver {
  settled: number;
  interrupted: number;
  unknown: number;
}

interface JournalParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** A folder that only this process uses; the caller has locked it. */
  folder: string;
  /** Absent: the files of the disk. */
  files?: SpoolFiles;
}

/** The blocks that this process decides with, and the rest of others. */
export interface BlockBook {
  /** Ends the workspace's blocks. @returns them without times, and as holds */
  end(workspace: WorkspaceId): Pick<OpenReport, "blocks" | "holds">;
  /** Ends the blocks of a key, or of the workspace where it is null. */
  recall(workspace: WorkspaceId, key: KeyId | null): BlockReturn[];
  /** What requests hold of the workspace's blocks, including those being requested or recently returned. */
  uses(workspace: WorkspaceId): BlockUse[];
  /** The ledger has a generation that was admitted with a block. */
  settled(block: GenerationId, reserved: NanoUsd): void;
}

export class GenerationJournal implements Disposable {
  /** What open generations have delivered so far. */
  readonly progress: ProgressTracker;
  readonly #spool: Spool;
  readonly #open = new OpenGenerations();
  readonly #publisher: SettlementPublisher;
  readonly #reporting: Disposable;
  readonly #reportListeners: ((workspace: WorkspaceId) => void)[] = [];
  readonly #missListeners: ((admitted: Admitted) => void)[] = [];
  #blocks: BlockBook | null = null;
  readonly #parts: JournalParts;
  #cancelPrune = (): void => {};

  constructor(parts: JournalParts) {
    this.#parts = parts;
    const id = newInternalId(parts.clock.now());
    this.#spool = new Spool(parts.folder, parts.clock, parts.files, id);
    // The caller recovers their data in the same turn, so no report lacks it.
    const member = { id, predecessors: this.#spool.writers, onMissed: () => this.#missed() };
    this.progress = new ProgressTracker(this.#spool, parts.clock);
    this.#publisher = new SettlementPublisher({ ...parts, onConfirmed: (generations) => this.#confirmed(generations) });
    this.#reporting = parts.bus.serveScatter("open-generations", (payload) => this.#reply(payload), member);
    this.#prune();
  }

  /** Generations that the ledger has not confirmed. */
  get unsettled(): number {
    return this.#open.size;
  }

  /** What the generations reserve that the ledger has not confirmed. */
  get reserved(): NanoUsd {
    return this.#open.reserved;
  }

  /** False while no further generation may begin: the disk takes no line, or too many generations wait for the ledger. */
  accepting(): boolean {
    this.#spool.probe();
    return this.#spool.working && this.#open.size < unsettledMax;
  }

  /**
   * Recovers generations of an earlier owner of the folder. Settlements are published again. Generations that were sent to a provider are
   * charged for what was delivered. Generations that were not sent end as unknown and are charged nothing. Returns the count of each, and
   * what admission must take over. If the owner ended cleanly, the ledger had all settlements.
   */
  recover(): RecoveredWork {
    const { intents, ended, settlements, interrupted, pendingAdmissions, blocks, closed } = this.#spool.takeRecovered();
    for (const intent of intents) {
      this.#open.addTime(intent, this.#parts.clock.monotonic());
      if (!ended.has(intent.generation)) this.#open.add(intent);
    }
    const admitted = this.#open.lastAdmissions();
    for (const settlement of settlements) this.#publisher.add(settlement, encodeSettlement(settlement));
    const ends = interrupted.map((generation) => interruptedSettlement(generation, this.#parts.clock.now()));
    for (const end of ends) void this.end(end);
    this.flush();
    const unknown = ends.filter(({ outcome }) => outcome === "unknown").length;
    const counts = { settled: closed ? 0 : settlements.length, interrupted: ends.length - unknown, unknown };
    return { ...counts, pendingAdmissions, blocks: closed ? [] : blocks, admitted };
  }

  /**
   * Call it before requests to admission are sent: if this process dies before their replies, its successor releases them.
   * @throws Error when the intents cannot be written: the requests must not be sent
   */
  recordIntents(intents: AdmissionIntent[], blocks: BlockIntent[] = []): void {
    this.#spool.writeAdmissions(intents, blocks);
  }

  /** From now on reports include these blocks, and they are notified of settlements. */
  useBlocks(blocks: BlockBook): void {
    this.#blocks = blocks;
  }

  /** Call it when a request is admitted with a block, in the same turn of the event loop. Others are noted as they begin. */
  noteAdmission(admission: { workspace: WorkspaceId; key: KeyId; admittedAt: number }): void {
    this.#open.addTime(admission, this.#parts.clock.monotonic());
  }

  /** Calls `listener` in the turn in which a workspace's open generations are reported. A report has no generation that opens later. */
  onReport(listener: (workspace: WorkspaceId) => void): void {
    this.#reportListeners.push(listener);
  }

  /** Calls `listener` with what reports have when counters may have been loaded without them: this process was frozen or cut off. */
  onMissed(listener: (admitted: Admitted) => void): void {
    this.#missListeners.push(listener);
  }

  /**
   * Call it before the provider is called.
   * @throws GatewayError billing_unavailable when the intent cannot be written, or when too many generations wait for the ledger: the
   *   provider must not be called
   */
  async begin(
    reservation: Reservation,
    facts: Pick<GenerationIntent, "fingerprint" | "model" | "requested" | "streamed" | "endpoint" | "owed">,
  ): Promise<void> {
    if (this.#open.size >= unsettledMax) throw new GatewayError("billing_unavailable");
    const { generation, request, workspace, key, month, admittedAt, block, claim } = reservation;
    const intent: GenerationIntent = {
      generation,
      request,
      workspace,
      key,
      month,
      admittedAt,
      amount: reservation.amount.toString(),
      ...(block !== undefined && { block }),
      ...(claim && { claim }),
      ...facts,
    };
    // Added before the line is written, so that a rebuild of the counters during the write includes it.
    if (block === undefined) this.#open.addTime(intent, this.#parts.clock.monotonic());
    this.#open.add(intent);
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

  /**
   * Call it once for each generation. When it resolves, the client may get the whole answer: the generation is charged even if this
   * process dies. `flush` makes it resolve at once.
   */
  async end(settlement: Settlement): Promise<void> {
    const { generation } = settlement;
    this.progress.forget(generation);
    const text = encodeSettlement(settlement);
    this.#publisher.add(settlement, text);
    try {
      await this.#spool.writeSettlement(generation, text);
    } catch (error) {
      const facts = { generation, reason: String(error) };
      raiseAlarm(this.#parts.log, "spool.failed", facts, "A settlement is in memory only: it is lost if the process dies now");
    }
  }

  /** Writes now the lines that would be written at the end of the event loop's turn. */
  flush(): void {
    this.#spool.flush();
  }

  /** Resolves true when the ledger has every settlement. */
  flushed(deadlineMs: number): Promise<boolean> {
    return this.#publisher.flushed(deadlineMs);
  }

  [Symbol.dispose](): void {
    this.#cancelPrune();
    this.progress[Symbol.dispose]();
    this.#reporting[Symbol.dispose]();
    this.#publisher[Symbol.dispose]();
    this.#spool[Symbol.dispose]();
  }

  #reply(payload: Uint8Array): Uint8Array {
    const request = decodeReportRequest(payload);
    // Reading credit changes nothing, so it touches no admission under way.
    if (request.use) return encodeBlockUses(this.#blocks?.uses(request.workspace) ?? []);
    if (request.byKey) return encodeReserved(this.#open.reservedByKey(request.workspace));
    for (const listener of this.#reportListeners) listener(request.workspace);
    return encodeOpenReport(this.#report(request));
  }

  #missed(): void {
    const admitted = this.#open.lastAdmissions();
    for (const listener of this.#missListeners) listener(admitted);
  }

  /** A recall asks for blocks only. */
  #report({ workspace, recall }: ReportRequest): OpenReport {
    if (recall) return { holds: [], windows: [], blocks: this.#blocks?.recall(workspace, recall.key) ?? [] };
    const { holds, ...open } = this.#open.report(workspace);
    const ended = this.#blocks?.end(workspace) ?? { holds: [], blocks: [] };
    return { ...open, holds: [...holds, ...ended.holds], blocks: ended.blocks };
  }

  #confirmed(generations: string[]): void {
    for (const generation of generations) {
      const open = this.#open.remove(generation);
      if (open?.block !== undefined) this.#blocks?.settled(open.block, open.amount);
    }
    this.#spool.confirm(generations);
  }

  #prune(): void {
    this.#cancelPrune = this.#parts.clock.after(pruneMs, () => {
      this.#open.prune(this.#parts.clock.monotonic() - 2 * rateWindowMs);
      this.#spool.confirm([]);
      this.#spool.probe();
      this.#prune();
    });
  }
}

/** What a generation reserves: by its own hold, or a part of a block's. */
interface OpenHold extends Hold {
  block?: GenerationId;
}

interface OpenWorkspace {
  holds: Map<GenerationId, OpenHold>;
  claims: Map<GenerationId, string>;
  admissions: Map<KeyId, Admissions>;
}

interface Admissions {
  /** Milliseconds of the counters' clock. */
  times: number[];
  /** By this process's monotonic clock, since it has no current reading of the counters' clock. */
  addedAt: number;
}

/** Old admissions of a key are dropped once every this many additions, since they are not in the processor's cache. */
const forgetEvery = 128;

/** Generations that this process admitted and the ledger has not confirmed, and the last minute's admissions. Counters are rebuilt from them. */
class OpenGenerations {
  readonly #workspaces = new Map<WorkspaceId, OpenWorkspace>();
  readonly #workspaceOf = new Map<GenerationId, WorkspaceId>();
  #reserved: NanoUsd = 0n;

  /** Count of generations that are admitted and not in the ledger yet. */
  get size(): number {
    return this.#workspaceOf.size;
  }

  /** The sum of their holds. */
  get reserved(): NanoUsd {
    return this.#reserved;
  }

  /** The time of an admission. @param monotonicMs time of the addition */
  addTime({ workspace, key, admittedAt }: Pick<GenerationIntent, "workspace" | "key" | "admittedAt">, monotonicMs: number): void {
    const open = this.#open(workspace);
    const known = open.admissions.get(key);
    const admissions = known ?? { times: [], addedAt: 0 };
    if (!known) open.admissions.set(key, admissions);
    admissions.times.push(admittedAt);
    admissions.addedAt = monotonicMs;
    forgetBefore(admissions.times, admittedAt - rateWindowMs);
  }

  add(intent: GenerationIntent): void {
    const { generation, workspace, key, month, fingerprint, admittedAt, block, claim } = intent;
    const open = this.#open(workspace);
    const amount = BigInt(intent.amount);
    const hold = { generation, fingerprint, amount, key, month, admittedAt, deadline: admittedAt + holdMs };
    open.holds.set(generation, block === undefined ? hold : { ...hold, block });
    if (claim) open.claims.set(generation, claim.id);
    if (!this.#workspaceOf.has(generation)) this.#reserved += amount;
    this.#workspaceOf.set(generation, workspace);
  }

  /** Call it when the ledger has the generation. @returns what it reserved; undefined: it was not open */
  remove(generation: GenerationId): OpenHold | undefined {
    const workspace = this.#workspaceOf.get(generation);
    if (workspace === undefined) return undefined;
    this.#workspaceOf.delete(generation);
    const open = this.#workspaces.get(workspace);
    const hold = open?.holds.get(generation);
    this.#reserved -= hold?.amount ?? 0n;
    open?.holds.delete(generation);
    open?.claims.delete(generation);
    return hold;
  }

  /** When each workspace's last request of a report was admitted. */
  lastAdmissions(): Admitted {
    return new Map(
      [...this.#workspaces].map(([workspace, { holds, admissions }]) => {
        let last = 0;
        for (const { times } of admissions.values()) for (const admittedAt of times) last = Math.max(last, admittedAt);
        for (const { admittedAt } of holds.values()) last = Math.max(last, admittedAt);
        return [workspace, last];
      }),
    );
  }

  /** Without what blocks hold. */
  report(workspace: WorkspaceId): Omit<OpenReport, "blocks"> {
    const open = this.#workspaces.get(workspace);
    if (!open) return { holds: [], windows: [] };
    return {
      holds: [...open.holds.values()].filter(({ block }) => block === undefined),
      windows: [...open.admissions].map(([key, { times }]) => ({ key, times: [...times] })),
      ...(open.claims.size > 0 && { claims: [...open.claims].map(([generation, claim]) => ({ claim, generation })) }),
    };
  }

  /** What open generations reserve, by key, also with blocks. */
  reservedByKey(workspace: WorkspaceId): ReadonlyMap<KeyId, NanoUsd> {
    const sums = new Map<KeyId, NanoUsd>();
    const holds = this.#workspaces.get(workspace)?.holds.values() ?? [];
    for (const { key, amount } of holds) sums.set(key, (sums.get(key) ?? 0n) + amount);
    return sums;
  }

  /** Drops workspaces without open generations and without admissions added after `before` (monotonic ms). */
  prune(before: number): void {
    for (const [workspace, open] of this.#workspaces) {
      for (const [key, { addedAt }] of open.admissions) if (addedAt < before) open.admissions.delete(key);
      if (open.holds.size === 0 && open.admissions.size === 0) this.#workspaces.delete(workspace);
    }
  }

  #open(workspace: WorkspaceId): OpenWorkspace {
    const known = this.#workspaces.get(workspace);
    const open = known ?? { holds: new Map(), claims: new Map(), admissions: new Map() };
    if (!known) this.#workspaces.set(workspace, open);
    return open;
  }
}

/** Runs rarely and drops at most half of the list, so that adding stays cheap for a key with ten thousand admissions a minute. */
function forgetBefore(times: number[], before: number): void {
  if (times.length % forgetEvery !== 0) return;
  const middle = times[times.length >> 1];
  if (middle !== undefined && middle < before) times.splice(0, times.length >> 1);
}
