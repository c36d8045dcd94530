/**
 * Detects a ledger that went back in time: the database was restored from a backup, the counters were not. Counters ignore values older
 * than theirs, so a workspace could spend credit that its ledger no longer has. When the counters are ahead of the ledger, this check
 * makes them forget the workspace, and it is loaded again.
 */
import { CountersUnavailableError, type Counters } from "../../../backing/counters.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { ledgerCheckMs, ledgerCheckBatchMs, recordLookupMs, recordsCachedMax } from "../../limits.ts";
import type { LoadStore } from "./load.ts";

export interface LedgerRollbackParts {
  counters: Pick<Counters, "read" | "forget">;
  store: Pick<LoadStore, "heads">;
  clock: Clock;
  log: Logger;
}

export class LedgerRollbackCheck {
  readonly #parts: LedgerRollbackParts;
  /** When each workspace was last found in order, in monotonic milliseconds. */
  readonly #checkedAt = new Map<WorkspaceId, number>();
  /** Running checks by workspace. Each resolves to the workspaces that it could not check. */
  readonly #checks = new Map<WorkspaceId, Promise<ReadonlySet<WorkspaceId>>>();
  /** No request waits for these: they are batched into one check. */
  #due = new Set<WorkspaceId>();

  constructor(parts: LedgerRollbackParts) {
    this.#parts = parts;
  }

  /**
   * Waits for the check of workspaces that this process has not checked lately. Others are checked again in the background.
   * @returns workspaces that could not be checked, since the counters or the database did not answer
   */
  async unchecked(workspaces: Iterable<WorkspaceId>): Promise<ReadonlySet<WorkspaceId>> {
    const now = this.#parts.clock.monotonic();
    const awaited = new Set<WorkspaceId>();
    for (const workspace of workspaces) {
      const ageMs = now - (this.#checkedAt.get(workspace) ?? -Infinity);
      if (ageMs >= 2 * ledgerCheckMs) awaited.add(workspace);
      else if (ageMs >= ledgerCheckMs) this.#checkSoon(workspace);
    }
    if (awaited.size === 0) return awaited;
    this.#begin([...awaited]);
    const checks = new Set([...awaited].map((workspace) => this.#checks.get(workspace)));
    const failed = await Promise.all(checks);
    return awaited.intersection(new Set(failed.flatMap((unchecked) => [...(unchecked ?? [])])));
  }

  #checkSoon(workspace: WorkspaceId): void {
    this.#due.add(workspace);
    if (this.#due.size > 1) return;
    this.#parts.clock.after(ledgerCheckBatchMs, () => {
      const due = [...this.#due];
      this.#due = new Set();
      this.#begin(due);
    });
  }

  /** Starts one check for all workspaces that no running check includes. */
  #begin(workspaces: readonly WorkspaceId[]): void {
    const fresh = workspaces.filter((workspace) => !this.#checks.has(workspace));
    if (fresh.length === 0) return;
    const check = this.#check(fresh);
    for (const workspace of fresh) this.#checks.set(workspace, check);
    void check.then(() => {
      for (const workspace of fresh) this.#checks.delete(workspace);
    });
  }

  /** Reads the counters first. Commits reach the ledger before the counters, so the ledger is behind them only after a restore. */
  async #check(workspaces: readonly WorkspaceId[]): Promise<ReadonlySet<WorkspaceId>> {
    const { store, clock, log } = this.#parts;
    const at = clock.monotonic();
    const unread = new Set<WorkspaceId>();
    let unchecked = workspaces;
    try {
      const sequences = await this.#sequencesOf(workspaces, unread);
      unchecked = [...sequences.keys(), ...unread];
      const heads =
        sequences.size === 0
          ? null
          : await withDeadline(clock, recordLookupMs, "Reading ledger heads", store.heads([...sequences.keys()]));
      for (const [workspace, sequence] of sequences)
        await this.#compare({ workspace, sequence, head: heads?.get(workspace) ?? 0n });
      if (this.#checkedAt.size >= recordsCachedMax) this.#checkedAt.clear();
      for (const workspace of workspaces) if (!unread.has(workspace)) this.#checkedAt.set(workspace, at);
      return unread;
    } catch (error) {
      log.warn(
        { event: "ledger.unchecked", workspaces: unchecked.length, reason: String(error) },
        "Ledgers could not be checked",
      );
      return new Set(unchecked);
    }
  }

  /**
   * The counters' sequences. Workspaces absent from the counters are loaded from the ledger before use, so they need no check.
   * @param unread gets those whose part of the counters did not answer, which delay no others
   */
  async #sequencesOf(workspaces: readonly WorkspaceId[], unread: Set<WorkspaceId>): Promise<Map<WorkspaceId, bigint>> {
    const sequences = new Map<WorkspaceId, bigint>();
    const read = async (workspace: WorkspaceId): Promise<void> => {
      try {
        const { account } = await this.#parts.counters.read(workspace, null);
        if (account !== null) sequences.set(workspace, account.sequence);
      } catch (error) {
        if (!(error instanceof CountersUnavailableError)) throw error;
        unread.add(workspace);
      }
    };
    await Promise.all(workspaces.map(read));
    return sequences;
  }

  async #compare({ workspace, sequence, head }: { workspace: WorkspaceId; sequence: bigint; head: bigint }): Promise<void> {
    const { counters, log } = this.#parts;
    if (head >= sequence || !(await counters.forget(workspace, head + 1n))) return;
    const facts = { workspace, counters: sequence.toString(), ledger: head.toString() };
    raiseAlarm(log, "ledger.went_back", facts, "A ledger is behind its counters: they are loaded again from it");
  }
}
