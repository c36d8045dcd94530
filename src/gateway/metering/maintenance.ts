/**
 * Metering's periodic work. It expires holds that outlived every stream and that no gateway reports; books again what the stream of
 * settlements still has, once the database is a different server; pushes the ledger's heads to the counters once a minute, which repairs
 * lost pushes and drift; and counts the credit that workspaces have left. An expiry goes through the stream of settlements, behind earlier
 * ones: even if metering lags, a generation's settlement is charged first, and its expiry then changes nothing. The same holds for what is
 * booked again. So each of these may run twice, or on two processes.
 */
import type { Lock } from "../../backing/advisory-lock.ts";
import type { Bus } from "../../backing/bus.ts";
import type { Counters, Hold } from "../../backing/counters.ts";
import { type Clock, monthOf } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { observe } from "../../kernel/metrics.ts";
import { usdAsJsonNumber, type NanoUsd } from "../../kernel/money.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { decodeOpenReport, encodeReportRequest } from "../journal/open-report.ts";
import { expiredSettlement } from "../journal/recovery.ts";
import { partitionOf, encodeSettlement, encodeSettlements } from "../journal/settlement.ts";
import { rebuildReportMs, sweepBatchMax, sweepMs, ledgerReplayLagMs, ledgerReplayMs, reconcileMs } from "../limits.ts";
import type { MaintenanceStore, ReplayDue } from "./maintenance-store.ts";
import { settleEvents, type MeteringParts } from "./worker.ts";

interface SweepParts {
  bus: Bus;
  counters: Counters;
  maintenance: Pick<MaintenanceStore, "listWorkspaces">;
  clock: Clock;
  log: Logger;
}

/** Sweeps every ten seconds until disposed. */
export function startSweeps(parts: SweepParts): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: () => sweep(parts),
    everyMs: sweepMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "sweep.failed", reason: String(error) }, "Workspaces could not be swept"),
  });
}

/** One round over all workspaces. @returns how many holds expired */
export async function sweep(parts: SweepParts): Promise<number> {
  let expired = 0;
  for (let after = ""; ;) {
    const workspaces = await parts.maintenance.listWorkspaces(after, sweepBatchMax);
    const last = workspaces.at(-1);
    if (last === undefined) return expired;
    after = last;
    const counts = await Promise.all(workspaces.map((workspace) => sweepWorkspace(workspace, parts)));
    expired += counts.reduce((sum, count) => sum + count, 0);
  }
}

interface ReplayParts extends MeteringParts {
  maintenance: MeteringParts["maintenance"] & Pick<MaintenanceStore, "replayDue" | "finishReplay">;
}

/**
 * Books again what the stream still has: a standby that was promoted or a restored backup may lack charges whose events were acknowledged.
 * Looks every second until disposed. One process of a fleet does it at a time: a second one would only repeat it.
 */
export function startReplays(parts: ReplayParts & { lock: Lock }): AsyncDisposable {
  const { clock, log, maintenance } = parts;
  /** When this process last found nothing to do, by its time of day; null: never. */
  let inOrderAt: number | null = null;
  return repeatUntilStopped({
    clock,
    everyMs: ledgerReplayMs,
    async round(signal) {
      if ((await maintenance.replayDue()) !== null) {
        await using held = await parts.lock("weir replays");
        if (held === null) return;
        // The process that had the lock before may have done it.
        await replayWhatIsDue(inOrderAt, signal, parts);
      }
      inOrderAt = clock.now();
    },
    onError: (error) => log.warn({ event: "replay.failed", reason: String(error) }, "Settlements could not be booked again"),
  });
}

/**
 * If ledgers are known to be behind, everything in the stream is booked again; otherwise only events stored since shortly before the former
 * server was last seen, or before the ledger's newest generation where that is earlier: an older backup lacks all that came after it, and
 * may come back a second time when no counters show that any more.
 * @param inOrderAt when it was last seen; null: not known
 * @throws when it is not done
 */
export async function replayWhatIsDue(inOrderAt: number | null, signal: AbortSignal, parts: ReplayParts): Promise<void> {
  const { bus, maintenance, log } = parts;
  const due = await maintenance.replayDue();
  if (due === null) return;
  const workspaces = due.rebuilding.length;
  // After an ordinary restart nothing is behind, and log lines about recovery would only worry the reader.
  const level = workspaces > 0 ? "warn" : "debug";
  const why = workspaces > 0 ? "The database went back in time" : "The database was started anew";
  log[level]({ event: "replay.begun", workspaces }, `${why}: settlements that the stream still has are booked, each once`);
  const sinceMs = replayStart(inOrderAt, due);
  await bus.replay("settlements", { sinceMs, signal, handler: (events) => settleEvents(events, parts) });
  // Admission may have died between the note of a loss and its own call. Counters that are not ready stay so.
  await Promise.all(due.rebuilding.map((workspace) => parts.counters.forget(workspace, 0n)));
  await maintenance.finishReplay(due);
  log[level]({ event: "replay.finished", workspaces }, "Settlements of the stream are booked");
}

/** @returns null: all that the stream has */
function replayStart(inOrderAt: number | null, { rebuilding, newestMs }: ReplayDue): number | null {
  if (rebuilding.length > 0 || inOrderAt === null || newestMs === null) return null;
  return Math.min(inOrderAt, newestMs) - ledgerReplayLagMs;
}

interface ReconcileParts {
  counters: Counters;
  maintenance: Pick<MaintenanceStore, "listWorkspaces" | "readAccounts" | "makeMonthsAhead">;
  clock: Clock;
  log: Logger;
}

/** Every minute until disposed, makes the partitions of generations ahead and pushes the heads. A failure of one does not stop the other. */
export function startReconciliation(parts: ReconcileParts): AsyncDisposable {
  const { clock, maintenance, log } = parts;
  let left = new CreditLeft();
  observe("weir_credit_usd", () => usdAsJsonNumber(left.total));
  observe("weir_workspaces", () => left.workspaces);
  return repeatUntilStopped({
    clock,
    async round() {
      await maintenance
        .makeMonthsAhead(clock.now())
        .catch((error: unknown) =>
          log.warn(
            { event: "partitions.failed", reason: String(error) },
            "The partitions of generations could not be made ahead",
          ),
        );
      left = await reconcile(parts);
    },
    everyMs: reconcileMs,
    onError: (error) => log.warn({ event: "reconcile.failed", reason: String(error) }, "The ledger's heads could not be pushed"),
  });
}

/**
 * One round over all workspaces. @returns the credit that they have left
 * @throws Error of the counters at the end, when some workspaces could not be pushed: a part of the store may be down
 */
export async function reconcile({
  counters,
  maintenance,
}: Pick<ReconcileParts, "counters" | "maintenance">): Promise<CreditLeft> {
  const now = await counters.now();
  const left = new CreditLeft();
  const failures: unknown[] = [];
  for (let after = ""; ;) {
    const workspaces = await maintenance.listWorkspaces(after, sweepBatchMax);
    const last = workspaces.at(-1);
    if (last === undefined) break;
    after = last;
    const accounts = await maintenance.readAccounts(workspaces, monthOf(now));
    for (const { balance } of accounts) left.add(balance);
    await counters.resolveMany({ resolve: [], accounts, keyMonths: [] }).catch((error: unknown) => failures.push(error));
  }
  for (const error of failures) throw error;
  return left;
}

const usd = 1_000_000_000n;

/**
 * The credit that workspaces have left, for graphs. A series for each workspace would grow with the customers and show them to every reader
 * of the metrics, so workspaces are counted by what they have left.
 */
export class CreditLeft {
  /** Keyed by the credit that is left. */
  readonly workspaces = { "below 0": 0, "0": 0, "below 1": 0, "below 10": 0, "10 or more": 0 };
  #total: NanoUsd = 0n;

  /** The credit of all workspaces that have some. */
  get total(): NanoUsd {
    return this.#total;
  }

  add(balance: NanoUsd): void {
    if (balance > 0n) this.#total += balance;
    if (balance < 0n) this.workspaces["below 0"]++;
    else if (balance === 0n) this.workspaces["0"]++;
    else if (balance < usd) this.workspaces["below 1"]++;
    else if (balance < 10n * usd) this.workspaces["below 10"]++;
    else this.workspaces["10 or more"]++;
  }
}

/** Never rejects, so that a failure of one workspace does not affect others. */
async function sweepWorkspace(workspace: WorkspaceId, parts: SweepParts): Promise<number> {
  try {
    const overdue = await parts.counters.overdue(workspace, sweepBatchMax);
    const unreported = overdue.length === 0 ? [] : await withoutGateway(workspace, overdue, parts);
    await publishExpiries(workspace, unreported, parts);
    return unreported.length;
  } catch (error) {
    parts.log.warn({ event: "sweep.failed", workspace, reason: String(error) }, "A workspace could not be swept");
    return 0;
  }
}

/** Holds that no gateway reports as open. */
async function withoutGateway(workspace: WorkspaceId, holds: Hold[], { bus }: SweepParts): Promise<Hold[]> {
  const reports = await bus.scatter("open-generations", encodeReportRequest({ workspace }), rebuildReportMs);
  const open = new Set(reports.flatMap((report) => decodeOpenReport(report).holds.map(({ generation }) => generation)));
  return holds.filter(({ generation }) => !open.has(generation));
}

async function publishExpiries(workspace: WorkspaceId, holds: Hold[], { bus, log }: SweepParts): Promise<void> {
  const [oldest] = holds;
  if (!oldest) return;
  // Holds found again while their expiry waits in the stream get the same message id.
  const id = `expired.${oldest.generation}`;
  const texts = holds.map((hold) => encodeSettlement(expiredSettlement(workspace, hold)));
  await bus.publish("settlements", id, encodeSettlements(id, texts), partitionOf(workspace, bus.partitions("settlements")));
  const reservedNano = holds.reduce((sum, { amount }) => sum + amount, 0n).toString();
  log.warn(
    { event: "holds.overdue", workspace, holds: holds.length, reservedNano },
    "Holds that no gateway reports have expired",
  );
}
