/** The epochs of ledgers in memory: the contract of `credit/positions-store.ts` and of the replays of `metering/maintenance-store.ts`. */
import { ledgerVersion, versionParts, type EpochStart } from "../../../src/gateway/credit/store.ts";
import type { CountedPosition, LedgerPosition } from "../../../src/gateway/credit/load.ts";
import type { ReplayDue } from "../../../src/gateway/metering/maintenance-store.ts";
import type { MemoryAccount } from "../gateway/memory-ledger.ts";

interface Epoch {
  epoch: bigint;
  server: bigint;
  isRebuilding: boolean;
}

export class MemoryEpochs {
  /** The server that answers: a restart, a promotion or a restoration gives another number. */
  server = 1n;
  /** What a backup has of it. */
  rows = new Map<string, Epoch>();
  /** 0: on none yet. */
  replayedOn = 0n;

  of(workspace: string): bigint {
    return this.rows.get(workspace)?.epoch ?? 0n;
  }

  isReady(workspace: string): boolean {
    const row = this.rows.get(workspace);
    return row === undefined || (!row.isRebuilding && row.server === this.server);
  }

  position({ workspace, version }: CountedPosition, { sequence, entries }: MemoryAccount): LedgerPosition {
    const { epoch, server, isRebuilding } = this.rows.get(workspace) ?? { epoch: 0n, server: 0n, isRebuilding: false };
    const counted = version === null ? { epoch: -1n, number: -1n } : versionParts(version);
    const then = counted.number === 0n ? 0n : (entries[Number(counted.number) - 1]?.balanceAfter ?? null);
    return {
      version: ledgerVersion({ epoch, number: sequence }),
      balanceThen: counted.epoch === epoch ? then : null,
      comparedOn: server === 0n ? "none" : server === this.server ? "this server" : "other",
      isRebuilding,
      isReplayed: this.replayedOn === this.server,
    };
  }

  begin(starts: readonly EpochStart[]): ReadonlySet<string> {
    const begun = starts.filter(({ workspace, after }) => this.of(workspace) === after);
    for (const { workspace, epoch, isRebuilding } of begun) {
      const was = this.rows.get(workspace)?.isRebuilding ?? false;
      this.rows.set(workspace, { epoch, server: this.server, isRebuilding: was || isRebuilding });
    }
    return new Set(begun.map(({ workspace }) => workspace));
  }

  replayDue(): Pick<ReplayDue, "server" | "rebuilding"> | null {
    const { server, replayedOn } = this;
    const rebuilding = [...this.rows].flatMap(([workspace, { isRebuilding }]) => (isRebuilding ? [workspace] : []));
    return rebuilding.length === 0 && replayedOn === server ? null : { server, rebuilding };
  }

  finishReplay({ server, rebuilding }: Pick<ReplayDue, "server" | "rebuilding">): void {
    if (server !== this.server) return;
    this.replayedOn = server;
    for (const workspace of rebuilding) Object.assign(this.rows.get(workspace) ?? {}, { isRebuilding: false });
  }
}
