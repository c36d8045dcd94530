/**
 * Finds a ledger that went back in time: a database that was restored beside counters that were not. Counters take no value that is
 * older than theirs, so they would let a workspace spend what its ledger no longer has. Whoever sees them ahead of the ledger makes them
 * forget the workspace, and it is loaded anew.
 */
import type { Counters } from "../../../backing/counters.ts";
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
  /** When each was last found in order, in monotonic milliseconds. */
  readonly #checkedAt = new Map<WorkspaceId, number>();
  /** Each look tells which workspaces it could not see. */
  readonly #checks = new Map<WorkspaceId, Promise<ReadonlySet<WorkspaceId>>>();
  /** Nobody waits for these: they are gathered for one look. */
  #due = new Set<WorkspaceId>();

  constructor(parts: LedgerRollbackParts) {
    this.#parts = parts;
  }

  /**
   * Waits for those that this process has not looked at of late. Others are looked at again beside their use.
   * @returns those of which the counters or the database did not answer
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
    const looks = new Set([...awaited].map((workspace) => this.#checks.get(workspace)));
    const failed = await Promise.all(looks);
    return awaited.intersection(new Set(failed.flatMap((unseen) => [...(unseen ?? [])])));
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

  /** One look for all of them that nobody looks at already. */
  #begin(workspaces: readonly WorkspaceId[]): void {
    const fresh = workspaces.filter((workspace) => !this.#checks.has(workspace));
    if (fresh.length === 0) return;
    const look = this.#check(fresh);
    for (const workspace of fresh) this.#checks.set(workspace, look);
    void look.then(() => {
      for (const workspace of fresh) this.#checks.delete(workspace);
    });
  }

  /** The counters first: what the ledger commits is pushed to them afterwards, so it is never behind them but after a restore. */
  async #check(workspaces: readonly WorkspaceId[]): Promise<ReadonlySet<WorkspaceId>> {
    const { store, clock, log } = this.#parts;
    const at = clock.monotonic();
    let unseen = workspaces;
    try {
      const sequences = await this.#sequencesOf(workspaces);
      unseen = [...sequences.keys()];
      const heads =
        unseen.length === 0
          ? null
          : await withDeadline(clock, recordLookupMs, "Looking at heads of ledgers", store.heads(unseen));
      for (const [workspace, sequence] of sequences)
        await this.#compare({ workspace, sequence, head: heads?.get(workspace) ?? 0n });
      if (this.#checkedAt.size >= recordsCachedMax) this.#checkedAt.clear();
      for (const workspace of workspaces) this.#checkedAt.set(workspace, at);
      return new Set();
    } catch (error) {
      log.warn({ event: "ledger.unseen", workspaces: unseen.length, reason: String(error) }, "Ledgers could not be looked at");
      return new Set(unseen);
    }
  }

  /** As the counters have them; those that they do not know are loaded from the ledger before they are used. */
  async #sequencesOf(workspaces: readonly WorkspaceId[]): Promise<Map<WorkspaceId, bigint>> {
    const read = async (workspace: WorkspaceId) => ({ workspace, ...(await this.#parts.counters.read(workspace, null)) });
    const positions = await Promise.all(workspaces.map(read));
    return new Map(
      positions.flatMap(({ workspace, account }) => (account === null ? [] : [[workspace, account.sequence] as const])),
    );
  }

  async #compare({ workspace, sequence, head }: { workspace: WorkspaceId; sequence: bigint; head: bigint }): Promise<void> {
    const { counters, log } = this.#parts;
    if (head >= sequence || !(await counters.forget(workspace, head + 1n))) return;
    const facts = { workspace, counters: sequence.toString(), ledger: head.toString() };
    raiseAlarm(log, "ledger.went_back", facts, "A ledger is behind its counters: they are loaded anew from it");
  }
}
