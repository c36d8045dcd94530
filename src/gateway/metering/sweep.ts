/**
 * Gives up holds that outlived every stream and that no front knows of. An expiry travels the stream of settlements, behind all
 * that was published before: while metering is behind, what is owed is charged first, and the expiry then finds it charged.
 */
import type { Bus } from "../../backing/bus.ts";
import type { Counters, Hold } from "../../backing/counters.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { rebuildReportMs, sweepBatchMax, sweepMs } from "../limits.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { decodeOpenReport, encodeReportRequest } from "../journal/open-report.ts";
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

/** One round over all workspaces. @returns how many holds are given up */
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

/** Never rejects: one workspace in trouble keeps nobody from sweeping the others. */
async function sweepWorkspace(workspace: WorkspaceId, parts: SweepParts): Promise<number> {
  try {
    const overdue = await parts.counters.overdue(workspace, sweepBatchMax);
    const orphans = overdue.length === 0 ? [] : await unknownToGateways(workspace, overdue, parts);
    await publishExpiries(workspace, orphans, parts);
    return orphans.length;
  } catch (error) {
    parts.log.warn({ event: "sweep.failed", workspace, reason: String(error) }, "A workspace could not be swept");
    return 0;
  }
}

async function unknownToGateways(workspace: WorkspaceId, holds: Hold[], { bus }: SweepParts): Promise<Hold[]> {
  const answers = await bus.scatter("open-generations", encodeReportRequest({ workspace }), rebuildReportMs);
  const known = new Set(answers.flatMap((answer) => decodeOpenReport(answer).holds.map(({ generation }) => generation)));
  return holds.filter(({ generation }) => !known.has(generation));
}

async function publishExpiries(workspace: WorkspaceId, holds: Hold[], { bus, log }: SweepParts): Promise<void> {
  const [oldest] = holds;
  if (!oldest) return;
  // The same holds again, because the first expiry still waits, are the same event.
  const id = `expired.${oldest.generation}`;
  const texts = holds.map((hold) => encodeSettlement(expiredSettlement(workspace, hold)));
  await bus.publish("settlements", id, encodeSettlements(id, texts));
  const reservedNano = holds.reduce((sum, { amount }) => sum + amount, 0n).toString();
  log.warn({ event: "holds.overdue", workspace, holds: holds.length, reservedNano }, "Holds that nobody knows of are given up");
}
