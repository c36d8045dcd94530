/**
 * The right to scan a project for a limited time. Every transaction of the scan extends it. If a killed or stuck scan lets it expire,
 * another scanner takes the project, and the first scan can no longer write.
 *
 * The next project comes from the workspace that recently had the least scanner time. A workspace is charged for a whole slice in advance
 * and refunded the rest, so that several scanners share their time fairly. A new scan waits for running imports, so that it reads
 * everything that was imported before it. While a transaction of a scan runs, no one can triage findings of that project.
 */
import { type Database, type Transaction, allowLocks, allowStatements } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { scanLeaseMs, scanSliceMs, scanWaitMs } from "../limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { newScanProgress, type ScanProgress } from "./scan-progress.ts";
import * as store from "./store.ts";

/** Another scanner has the project now, or the project was removed. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
}

interface Sources {
  sql: Database;
  clock: Clock;
}

/** The state of a scan that has begun. */
export interface ScanState {
  workspace: WorkspaceId;
  /** When the scan began; later than all before it. */
  at: Date;
  progress: ScanProgress;
}

export class Lease {
  readonly project: string;
  readonly #workspace: WorkspaceId;
  readonly #sources: Sources;
  readonly #sinceMs: number;
  #attempts: number;
  #until: Date;

  private constructor({ project, workspace, attempts, until }: store.TakenRow & { until: Date }, sources: Sources) {
    this.project = project;
    this.#workspace = workspace;
    this.#attempts = attempts;
    this.#until = until;
    this.#sources = sources;
    this.#sinceMs = sources.clock.monotonic();
  }

  /** Takes a project of the workspace with the least scanner time. @returns null if no waiting project is free */
  static async take(sources: Sources): Promise<Lease | null> {
    const { sql, clock } = sources;
    const now = new Date(clock.now());
    const until = new Date(now.getTime() + scanLeaseMs);
    for (const workspace of await store.selectLeastServed(now, sql)) {
      const row = await store.takeDue({ workspace, now, until }, sql);
      if (row === undefined) continue;
      await store.chargeShare({ workspace, milliseconds: scanSliceMs, now }, sql);
      return new Lease({ ...row, until }, sources);
    }
    return null;
  }

  /** How many times the scan has begun since it was requested or last made progress. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Whether the time slice is used up, so that other scans are next. */
  get isSliceOver(): boolean {
    return this.#spentMs >= scanSliceMs;
  }

  /**
   * Resumes the scan if the SBOM is unchanged; otherwise begins a new one. A new scan waits for running imports, so that it reads
   * everything that was imported before it.
   * @throws LeaseLostError
   */
  async beginOrResume(): Promise<ScanState> {
    return this.#withLockWait(async (tx) => {
      const known = resumableState(found(await store.selectScanState(this.#key, tx)));
      if (known !== null) return known;
      await store.awaitAdvisoryChanges(tx);
      const { workspace, sbom, asked, beganAt } = found(await store.selectScanState(this.#key, tx));
      const at = new Date(Math.max(this.#sources.clock.now(), (beganAt?.getTime() ?? 0) + 1));
      const progress = newScanProgress({ sbom, asked });
      await store.updateToBegun({ ...this.#key, progress, at }, tx);
      return { workspace, at, progress };
    });
  }

  /**
   * Runs `work` in a transaction, during which no other scan of the project runs and no one triages its findings.
   * @param further the progress of the scan after `work`; null: unchanged
   * @throws LeaseLostError
   */
  async hold<T>(
    work: (tx: Transaction, project: { product: string | null }) => Promise<T>,
    further: ScanProgress | null = null,
  ): Promise<T> {
    const next = new Date(Math.max(this.#sources.clock.now() + scanLeaseMs, this.#until.getTime()));
    const result = await this.#withLockWait(async (tx) => {
      const project = found(await store.moveLease({ ...this.#key, next, progress: null }, tx));
      const done = await work(tx, project);
      if (further !== null) found(await store.moveLease({ project: this.project, until: next, next, progress: further }, tx));
      return done;
    });
    this.#until = next;
    if (further !== null) this.#attempts = 1;
    return result;
  }

  /** @param also what to do in the same transaction @throws LeaseLostError */
  async complete(progress: ScanProgress, also: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.#end(async (tx, now) => {
      if (!(await store.updateToCompleted({ ...this.#key, progress, at: now }, tx))) throw new LeaseLostError(lost);
      await also(tx);
    });
  }

  /** Releases the project, so that any scanner can resume the scan. */
  async endSlice(): Promise<void> {
    await this.#end((tx, now) => store.updateToNextSlice({ ...this.#key, due: now, spentMs: Math.round(this.#spentMs) }, tx));
  }

  /** Releases the project; the scan is retried after `pauseMs`. */
  async retryAfter(pauseMs: number): Promise<void> {
    await this.#end((tx, now) => {
      const due = new Date(now.getTime() + pauseMs);
      return store.updateToWaiting({ ...this.#key, due, attempts: this.attempts }, tx);
    });
  }

  /** Releases the project without counting the attempt. */
  async release(): Promise<void> {
    await this.#end((tx, now) => store.updateToWaiting({ ...this.#key, due: now, attempts: this.attempts - 1 }, tx));
  }

  /** @param failure a sentence that is shown to people */
  async fail(failure: string): Promise<void> {
    await this.#end((tx, now) => store.updateToFailed({ ...this.#key, at: now, failure }, tx));
  }

  /** Charges the workspace for the time used instead of the whole slice. */
  #end(work: (tx: Transaction, now: Date) => Promise<void>): Promise<void> {
    const now = new Date(this.#sources.clock.now());
    return this.#withLockWait(async (tx) => {
      await work(tx, now);
      await store.chargeShare({ workspace: this.#workspace, milliseconds: this.#spentMs - scanSliceMs, now }, tx);
    });
  }

  /** An import locks its projects while a batch runs, so scans wait longer for locks than other statements do. */
  async #withLockWait<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { result } = await this.#sources.sql.begin(async (tx) => {
      await allowStatements(scanWaitMs, tx);
      await allowLocks(scanWaitMs, tx);
      return { result: await work(tx) };
    });
    return result;
  }

  get #spentMs(): number {
    return this.#sources.clock.monotonic() - this.#sinceMs;
  }

  get #key(): store.LeaseKey {
    return { project: this.project, until: this.#until };
  }
}

/** @returns null if there is none, or it belongs to an earlier SBOM */
function resumableState({ workspace, sbom, beganAt, progress }: store.ScanStateRow): ScanState | null {
  return progress === null || beganAt === null || progress.sbom !== sbom ? null : { workspace, at: beganAt, progress };
}

const lost = "The lease of the scan has run out";

function found<T>(row: T | undefined): T {
  if (row === undefined) throw new LeaseLostError(lost);
  return row;
}
