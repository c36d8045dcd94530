/**
 * The right to scan a project, for a time that every transaction of the scan prolongs. A scan that lets it run out, killed or stuck,
 * is taken up again by somebody else, and can write nothing more itself.
 */
import type { Database, Transaction } from "../../backing/backing.ts";
import { allowLocks, allowStatements } from "../../backing/statement-time.ts";
import type { Clock } from "../../kernel/clock.ts";
import { scanLeaseMs, scanSliceMs, scanWaitMs } from "../limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { newScanProgress, type ScanProgress } from "./scan-progress.ts";
import { chargeShare, selectLeastServed } from "./fair-share-store.ts";
import {
  awaitAdvisoryChanges,
  moveLease,
  selectScanState,
  takeDue,
  updateToBegun,
  updateToCompleted,
  updateToFailed,
  updateToNextSlice,
  updateToWaiting,
  type LeaseKey,
  type ScanStateRow,
  type TakenRow,
} from "./store.ts";

/** Somebody else scans the project now. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
}

interface Sources {
  sql: Database;
  clock: Clock;
}

/** What is to be scanned. */
export interface ScanState {
  workspace: WorkspaceId;
  /** When the scan began, later than every one before. */
  at: Date;
  /** How far it is. */
  progress: ScanProgress;
}

export class Lease {
  readonly project: string;
  readonly #workspace: WorkspaceId;
  readonly #sources: Sources;
  readonly #sinceMs: number;
  #attempts: number;
  #until: Date;

  private constructor({ project, workspace, attempts, until }: TakenRow & { until: Date }, sources: Sources) {
    this.project = project;
    this.#workspace = workspace;
    this.#attempts = attempts;
    this.#until = until;
    this.#sources = sources;
    this.#sinceMs = sources.clock.monotonic();
  }

  /**
   * Of the workspace that had least of scanners' time; it is charged for a slice at once, so that several scanners share fairly too.
   * @returns null where no project waits that nobody else has
   */
  static async take(sources: Sources): Promise<Lease | null> {
    const { sql, clock } = sources;
    const now = new Date(clock.now());
    const until = new Date(now.getTime() + scanLeaseMs);
    for (const workspace of await selectLeastServed(now, sql)) {
      const row = await takeDue({ workspace, now, until }, sql);
      if (row === undefined) continue;
      await chargeShare({ workspace, milliseconds: scanSliceMs, now }, sql);
      return new Lease({ ...row, until }, sources);
    }
    return null;
  }

  /** How many scans have begun since this one was asked for or came forward. */
  get attempts(): number {
    return this.#attempts;
  }

  /** It is the turn of others. */
  get isSliceOver(): boolean {
    return this.#spentMs >= scanSliceMs;
  }

  /**
   * A scan under way goes on while the document is the same. One that begins is of now: everything that was imported before is there
   * to be read, for imports under way are waited for.
   * @throws LeaseLostError
   */
  async beginOrResume(): Promise<ScanState> {
    return this.#withLockWait(async (tx) => {
      const known = resumableState(found(await selectScanState(this.#key, tx)));
      if (known !== null) return known;
      await awaitAdvisoryChanges(tx);
      const { workspace, sbom, asked, beganAt } = found(await selectScanState(this.#key, tx));
      const at = new Date(Math.max(this.#sources.clock.now(), (beganAt?.getTime() ?? 0) + 1));
      const progress = newScanProgress({ sbom, asked });
      await updateToBegun({ ...this.#key, progress, at }, tx);
      return { workspace, at, progress };
    });
  }

  /**
   * Runs `work` in a transaction in which nobody else scans the project or decides about its findings.
   * @param further how far the scan is with it, once `work` is done; null: no further than before
   * @throws LeaseLostError
   */
  async hold<T>(
    work: (tx: Transaction, project: { product: string | null }) => Promise<T>,
    further: ScanProgress | null = null,
  ): Promise<T> {
    const next = new Date(Math.max(this.#sources.clock.now() + scanLeaseMs, this.#until.getTime()));
    const result = await this.#withLockWait(async (tx) => {
      const project = found(await moveLease({ ...this.#key, next, progress: null }, tx));
      const done = await work(tx, project);
      if (further !== null) found(await moveLease({ project: this.project, until: next, next, progress: further }, tx));
      return done;
    });
    this.#until = next;
    if (further !== null) this.#attempts = 1;
    return result;
  }

  async complete(progress: ScanProgress): Promise<void> {
    await this.#end((tx, now) => updateToCompleted({ ...this.#key, progress, at: now }, tx));
  }

  /** To whoever comes next: the scan goes on there. */
  async endSlice(): Promise<void> {
    await this.#end((tx, now) => updateToNextSlice({ ...this.#key, due: now, spentMs: Math.round(this.#spentMs) }, tx));
  }

  /** To be tried again after `pauseMs`. */
  async retryAfter(pauseMs: number): Promise<void> {
    await this.#end((tx, now) => {
      const due = new Date(now.getTime() + pauseMs);
      return updateToWaiting({ ...this.#key, due, attempts: this.attempts }, tx);
    });
  }

  /** To whoever comes first, as if it had not been begun. */
  async release(): Promise<void> {
    await this.#end((tx, now) => updateToWaiting({ ...this.#key, due: now, attempts: this.attempts - 1 }, tx));
  }

  /** @param failure a sentence for people */
  async fail(failure: string): Promise<void> {
    await this.#end((tx, now) => updateToFailed({ ...this.#key, at: now, failure }, tx));
  }

  /** The workspace pays for the time that was taken, and not for the slice that was set aside. */
  #end(work: (tx: Transaction, now: Date) => Promise<void>): Promise<void> {
    const now = new Date(this.#sources.clock.now());
    return this.#withLockWait(async (tx) => {
      await work(tx, now);
      await chargeShare({ workspace: this.#workspace, milliseconds: this.#spentMs - scanSliceMs, now }, tx);
    });
  }

  /** An import has its projects for as long as a batch takes: nothing is wrong with a scan that waits for it. */
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

  get #key(): LeaseKey {
    return { project: this.project, until: this.#until };
  }
}

/** null: there is none, or it is of another document than the present one. */
function resumableState({ workspace, sbom, beganAt, progress }: ScanStateRow): ScanState | null {
  return progress === null || beganAt === null || progress.sbom !== sbom ? null : { workspace, at: beganAt, progress };
}

function found<T>(row: T | undefined): T {
  if (row === undefined) throw new LeaseLostError("The lease of the scan has run out");
  return row;
}
