/**
 * Expires holds that outlived every stream and that no gateway reports. An expiry goes through the stream of settlements, behind earlier
 * ones: even if metering lags, a generation's settlement is charged first, and its expiry then changes nothing.
 */
import type { Bus } from "../../backing/bus.ts";
import type { Counters, Hold } from "../../backing/counters.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { rebuildReportMs, sweepBatchMax, sweepMs } from "../limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { decodeOpenReport, encodeReportRequest } from "../journal/open-report.ts";
import { partitionOf } from "../journal/partition-of.ts";
import { encodeSettlement, encodeSettlements } from "../journal/settlement-codec.ts";
import { expiredSettlement } from "../journal/crash-settlement.ts";
import type { MaintenanceStore } from "./maintenance-store.ts";

export interface SweepParts {
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
  // Holds that are found again while their expiry waits in the stream give the same message id.
  const id = `expired.${oldest.generation}`;
  const texts = holds.map((hold) => encodeSettlement(expiredSettlement(workspace, hold)));
  await bus.publish("settlements", id, encodeSettlements(id, texts), partitionOf(workspace, bus.partitions("settlements")));
  const reservedNano = holds.reduce((sum, { amount }) => sum + amount, 0n).toString();
  log.warn(
    { event: "holds.overdue", workspace, holds: holds.length, reservedNano },
    "Holds that no gateway reports have expired",
  );
}
