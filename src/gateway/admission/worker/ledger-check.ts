/**
 * Compares counters with their ledgers before they are used, since a database may go back in time: a standby is promoted without the last
 * commits, or an older backup is restored. Counters that are ahead would spend credit that the ledger no longer has. Each workspace is
 * compared on first use, every half minute, and anew on each server.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { Counters } from "../../../backing/counters.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { ledgerCheckMs, ledgerCheckBatchMs, recordLookupMs, recordsCachedMax } from "../../limits.ts";
import { compareLedgers } from "./compare-ledgers.ts";
import { LedgerServerWatch } from "./ledger-server-watch.ts";
import type { LoadStore } from "./load.ts";

export interface LedgerCheckParts {
  bus: Pick<Bus, "broadcast">;
  counters: Pick<Counters, "read" | "forget">;
  store: Pick<LoadStore, "positions" | "beginEpochs" | "server">;
  clock: Clock;
  log: Logger;
}

export class LedgerCheck {
  readonly #parts: LedgerCheckParts;
  readonly #watch: LedgerServerWatch;
  /** When each workspace was last found in order, in monotonic milliseconds. */
  #checkedAt = new Map<WorkspaceId, number>();
  /** Running checks by workspace. Each resolves to the workspaces that must not be used. */
  readonly #checks = new Map<WorkspaceId, Promise<ReadonlySet<WorkspaceId>>>();
  /** No request waits for these: they are batched into one check. */
  #due = new Set<WorkspaceId>();

  constructor(parts: LedgerCheckParts) {
    this.#parts = parts;
    this.#watch = new LedgerServerWatch(parts, () => this.#forgetChecks());
  }

  /**
   * Waits for the check of workspaces that this process has not checked lately. Others are checked again in the background.
   * @returns workspaces that must not be used now: counters or database did not answer, or what their ledger lost is being booked again
   */
  async unusable(workspaces: Iterable<WorkspaceId>): Promise<ReadonlySet<WorkspaceId>> {
    await this.#watch.confirm();
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
    return awaited.intersection(new Set(failed.flatMap((unusable) => [...(unusable ?? [])])));
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
      for (const workspace of fresh) if (this.#checks.get(workspace) === check) this.#checks.delete(workspace);
    });
  }

  async #check(workspaces: readonly WorkspaceId[]): Promise<ReadonlySet<WorkspaceId>> {
    const { clock, log } = this.#parts;
    const at = clock.monotonic();
    const checkedAt = this.#checkedAt;
    try {
      const unusable = await withDeadline(
        clock,
        2 * recordLookupMs,
        "Comparing ledgers",
        compareLedgers(workspaces, this.#parts),
      );
      if (checkedAt.size >= recordsCachedMax) checkedAt.clear();
      for (const workspace of workspaces) {
        if (unusable.has(workspace)) checkedAt.delete(workspace);
        else checkedAt.set(workspace, at);
      }
      return unusable;
    } catch (error) {
      log.warn(
        { event: "ledger.unchecked", workspaces: workspaces.length, reason: String(error) },
        "Ledgers could not be checked",
      );
      return new Set(workspaces);
    }
  }

  /** What was found on another server counts no longer, nor does what running checks will find. Gateways decide with no block of before. */
  #forgetChecks(): void {
    this.#parts.bus.broadcast("records-changed");
    this.#checkedAt = new Map();
    this.#checks.clear();
  }
}
