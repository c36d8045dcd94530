/**
 * The right to scan a project, for a time that every transaction of the scan prolongs. A scan that lets it run out, killed or stuck,
 * is taken up again by somebody else, and can write nothing more itself.
 */
import type { Database, Transaction } from "../backing/backing.ts";
import { allowStatements } from "../backing/statement-time.ts";
import type { Clock } from "../kernel/clock.ts";
import { scanLeaseMs, scanWaitMs } from "../limits/tools.ts";
import {
  allowLocks,
  awaitKnowledge,
  moveLease,
  selectSubject,
  takeDue,
  updateToCompleted,
  updateToFailed,
  updateToWaiting,
  type SubjectRow,
} from "./store.ts";

/** Somebody else scans the project now. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
}

interface Sources {
  sql: Database;
  clock: Clock;
}

export class Lease {
  readonly project: string;
  /** How many scans have begun since this one was asked for. */
  readonly attempts: number;
  readonly #sources: Sources;
  #until: Date;

  private constructor({ project, attempts, until }: { project: string; attempts: number; until: Date }, sources: Sources) {
    this.project = project;
    this.attempts = attempts;
    this.#until = until;
    this.#sources = sources;
  }

  /** @returns null where no project waits that nobody else has */
  static async take(sources: Sources): Promise<Lease | null> {
    const now = sources.clock.now();
    const until = new Date(now + scanLeaseMs);
    const row = await takeDue({ now: new Date(now), until }, sources.sql);
    return row === undefined ? null : new Lease({ ...row, until }, sources);
  }

  /**
   * What is to be scanned, as of now: everything that was imported before is there to be read, for imports under way are waited for.
   * @throws LeaseLostError
   */
  async subject(): Promise<SubjectRow> {
    return this.#patiently(async (tx) => {
      await awaitKnowledge(tx);
      return found(await selectSubject(this.#held, tx));
    });
  }

  /**
   * Runs `work` in a transaction in which nobody else scans the project or decides about its findings.
   * @throws LeaseLostError
   */
  async hold<T>(work: (tx: Transaction, project: { product: string | null }) => Promise<T>): Promise<T> {
    const next = new Date(Math.max(this.#sources.clock.now() + scanLeaseMs, this.#until.getTime()));
    const result = await this.#patiently(async (tx) => work(tx, found(await moveLease({ ...this.#held, next }, tx))));
    this.#until = next;
    return result;
  }

  async complete(asked: bigint): Promise<void> {
    const at = new Date(this.#sources.clock.now());
    await this.#patiently((tx) => updateToCompleted({ ...this.#held, asked, at }, tx));
  }

  /** To be tried again after `pauseMs`. */
  async putOff(pauseMs: number): Promise<void> {
    const due = new Date(this.#sources.clock.now() + pauseMs);
    await this.#patiently((tx) => updateToWaiting({ ...this.#held, due, attempts: this.attempts }, tx));
  }

  /** To whoever comes first, as if it had not been begun. */
  async giveBack(): Promise<void> {
    const due = new Date(this.#sources.clock.now());
    await this.#patiently((tx) => updateToWaiting({ ...this.#held, due, attempts: this.attempts - 1 }, tx));
  }

  /** @param failure a sentence for people */
  async fail(failure: string): Promise<void> {
    const at = new Date(this.#sources.clock.now());
    await this.#patiently((tx) => updateToFailed({ ...this.#held, at, failure }, tx));
  }

  /** An import has its projects for as long as a batch takes: nothing is wrong with a scan that waits for it. */
  async #patiently<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { result } = await this.#sources.sql.begin(async (tx) => {
      await allowStatements(scanWaitMs, tx);
      await allowLocks(scanWaitMs, tx);
      return { result: await work(tx) };
    });
    return result;
  }

  get #held(): { project: string; until: Date } {
    return { project: this.project, until: this.#until };
  }
}

function found<T>(row: T | undefined): T {
  if (row === undefined) throw new LeaseLostError("The lease of the scan has run out");
  return row;
}
