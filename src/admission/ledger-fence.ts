/**
 * Finds a ledger that went back in time: a database that was restored beside counters that were not. Counters take no value that is
 * older than theirs, so they would let a workspace spend what its ledger no longer has. Whoever sees them ahead of the ledger makes them
 * forget the workspace, and it is loaded anew.
 */
import type { Counters } from "../backing/counters.ts";
import { raiseAlarm } from "../kernel/alarm.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import { ledgerLookMs, recordLookupMs, recordsCachedMax } from "../limits/constants.ts";
import type { LoadStore } from "./load.ts";

export interface LedgerFenceParts {
  counters: Pick<Counters, "read" | "forget">;
  store: Pick<LoadStore, "account">;
  clock: Clock;
  log: Logger;
}

export class LedgerFence {
  readonly #parts: LedgerFenceParts;
  /** When each was last found in order, in monotonic milliseconds. */
  readonly #looked = new Map<WorkspaceId, number>();
  readonly #looking = new Map<WorkspaceId, Promise<void>>();

  constructor(parts: LedgerFenceParts) {
    this.#parts = parts;
  }

  /**
   * Waits for those that this process has not looked at of late. Others are looked at again beside their use.
   * @returns those of which the counters or the database did not answer
   */
  async unseen(workspaces: Iterable<WorkspaceId>): Promise<ReadonlySet<WorkspaceId>> {
    const now = this.#parts.clock.monotonic();
    const awaited = new Set<WorkspaceId>();
    for (const workspace of workspaces) {
      const ageMs = now - (this.#looked.get(workspace) ?? -Infinity);
      if (ageMs >= 2 * ledgerLookMs) awaited.add(workspace);
      else if (ageMs >= ledgerLookMs) this.#look(workspace).catch(() => {});
    }
    return awaited.size === 0 ? awaited : this.#failed([...awaited]);
  }

  async #failed(workspaces: WorkspaceId[]): Promise<ReadonlySet<WorkspaceId>> {
    const failed = new Set<WorkspaceId>();
    const look = (workspace: WorkspaceId): Promise<void> =>
      this.#look(workspace).catch((error: unknown) => {
        failed.add(workspace);
        this.#parts.log.warn({ event: "ledger.unseen", workspace, reason: String(error) }, "A ledger could not be looked at");
      });
    await Promise.all(workspaces.map(look));
    return failed;
  }

  #look(workspace: WorkspaceId): Promise<void> {
    const looking = this.#looking.get(workspace) ?? this.#lookNow(workspace).finally(() => this.#looking.delete(workspace));
    this.#looking.set(workspace, looking);
    return looking;
  }

  /** The counters first: what the ledger commits is pushed to them afterwards, so it is never behind them but after a restore. */
  async #lookNow(workspace: WorkspaceId): Promise<void> {
    const { counters, store, clock, log } = this.#parts;
    const at = clock.monotonic();
    const { account } = await counters.read(workspace, null);
    if (account !== null) {
      const ledger = await withDeadline(clock, recordLookupMs, "Looking at a ledger's head", store.account(workspace, []));
      const head = ledger?.account.sequence ?? 0n;
      if (head < account.sequence && (await counters.forget(workspace, head + 1n))) {
        const facts = { workspace, counters: account.sequence.toString(), ledger: head.toString() };
        raiseAlarm(log, "ledger.went_back", facts, "A ledger is behind its counters: they are loaded anew from it");
      }
    }
    if (this.#looked.size >= recordsCachedMax) this.#looked.clear();
    this.#looked.set(workspace, at);
  }
}
