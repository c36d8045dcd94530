/**
 * Gives up holds that outlived every stream. Only when nothing waits to be settled and no front knows of the generation:
 * while metering is behind, a hold may be owed.
 */
import type { Database } from "../backing/backing.ts";
import type { Bus } from "../backing/bus.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { rebuildReportMs, sweepBatchMax, sweepMs } from "../limits/constants.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import { decodeOpenReport, encodeOpenQuestion } from "../generations/open-report.ts";
import { expiredSettlement } from "../generations/unknown-settlement.ts";
import { settle, type SettleParts } from "./settle.ts";
import { listWorkspaces } from "./upkeep-store.ts";

export interface SweepParts extends SettleParts {
  bus: Bus;
  sql: Database;
  clock: Clock;
  log: Logger;
}

/** Sweeps every ten seconds until aborted. */
export async function sweepForEver(parts: SweepParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(parts.clock, sweepMs, signal);
    if (signal.aborted) return;
    await sweep(parts).catch((error: unknown) => parts.log.warn({ event: "sweep.failed", reason: String(error) }));
  }
}

/** One round over all workspaces. @returns how many holds expired */
export async function sweep(parts: SweepParts): Promise<number> {
  let expired = 0;
  for (let after = ""; ;) {
    const workspaces = await listWorkspaces(after, sweepBatchMax, parts.sql);
    const last = workspaces.at(-1);
    if (last === undefined) return expired;
    after = last;
    const counts = await Promise.all(workspaces.map((workspace) => sweepWorkspace(workspace, parts)));
    expired += counts.reduce((sum, count) => sum + count, 0);
  }
}

async function sweepWorkspace(workspace: WorkspaceId, parts: SweepParts): Promise<number> {
  const overdue = await parts.counters.overdue(workspace, sweepBatchMax);
  if (overdue.length === 0) return 0;
  const { messages } = await parts.bus.backlog("settlements");
  if (messages > 0) return 0;
  const answers = await parts.bus.survey("open-generations", encodeOpenQuestion({ workspace }), rebuildReportMs);
  const known = new Set(answers.flatMap((answer) => decodeOpenReport(answer).holds.map(({ generation }) => generation)));
  const orphans = overdue.filter(({ generation }) => !known.has(generation));
  if (orphans.length === 0) return 0;
  await settle(
    orphans.map((hold) => expiredSettlement(workspace, hold)),
    parts,
  );
  const exposed = orphans.reduce((sum, { amount }) => sum + amount, 0n);
  parts.log.error({ event: "holds.expired", workspace, count: orphans.length, exposedNano: exposed.toString() }, "Holds expired");
  return orphans.length;
}
