/**
 * Spools of gateways that died and did not restart. Any process that shares the data folder adopts them, so that settlements are charged
 * and other admissions are released within seconds. A lock on the folder says whether its owner is alive; only one process gets it.
 * A spool that is not emptied by the end of a round or of the process stays for the next one. An adopted journal stays open until its
 * admissions have left every rate window, since rebuilds need them.
 */
import { join } from "node:path";
import type { Bus } from "../../backing/bus.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { adoptionFlushMs, orphanScanMs } from "../limits.ts";
import { GenerationJournal, type BlockBook, type TakenOver } from "./journal.ts";
import { diskFiles, type SpoolFiles } from "./spool.ts";

/** Locks a folder; null: its owner is alive. */
type LockFolder = (folder: string) => Promise<AsyncDisposable | null>;

interface OrphanedSpoolParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  dataDir: string;
  lockFolder: LockFolder;
  /** Absent: the files of the disk. */
  files?: SpoolFiles;
  /** Takes over what the dead gateway had admitted or requested. */
  takeOver(left: TakenOver): void;
  /** Is notified of the requests of its blocks that the ledger has. */
  blocks: Pick<BlockBook, "settled">;
}

/**
 * Looks for orphaned spools at once and every ten seconds until aborted. At once, because the spool may be one that this gateway's
 * predecessor had adopted: until somebody reports its admissions, loaded counters lack them. Spools that are not emptied by then
 * stay for another process.
 */
export async function adoptOrphanedSpoolsUntilStopped(parts: OrphanedSpoolParts, signal: AbortSignal): Promise<void> {
  const adopting = new Set<Promise<number>>();
  while (!signal.aborted) {
    const round = adoptOrphanedSpools(parts, signal);
    adopting.add(round);
    void round.finally(() => adopting.delete(round));
    await sleep(parts.clock, orphanScanMs, signal);
  }
  await Promise.all(adopting);
}

/** One round. Never rejects. @returns how many spools were emptied */
export async function adoptOrphanedSpools(parts: OrphanedSpoolParts, signal: AbortSignal): Promise<number> {
  const adoptions = gatewayFolders(parts).map((name) => adopt(join(parts.dataDir, name), parts, signal));
  return (await Promise.all(adoptions)).filter(Boolean).length;
}

function gatewayFolders({ dataDir, log, files = diskFiles }: OrphanedSpoolParts): string[] {
  try {
    return files.list(dataDir).filter((name) => /^gateway-\d+$/.test(name));
  } catch (error) {
    log.warn({ event: "orphans.failed", reason: String(error) });
    return [];
  }
}

/** Never rejects, so that one unreadable spool does not affect others. */
async function adopt(folder: string, parts: OrphanedSpoolParts, signal: AbortSignal): Promise<boolean> {
  const spool = join(folder, "spool");
  if (!hasSegments(spool, parts.files)) return false;
  try {
    await using lock = await parts.lockFolder(folder);
    return lock !== null && (await emptySpool(spool, parts, signal));
  } catch (error) {
    parts.log.error({ event: "spool.not_adopted", folder, reason: String(error) }, "A dead gateway's spool cannot be adopted");
    return false;
  }
}

async function emptySpool(folder: string, parts: OrphanedSpoolParts, signal: AbortSignal): Promise<boolean> {
  if (!(await bringToLedger(folder, parts, signal))) return false;
  (parts.files ?? diskFiles).remove(folder);
  return true;
}

/** Its blocks are reported by the process that took them over. */
const noBlocks: Omit<BlockBook, "settled"> = { end: () => ({ blocks: [], holds: [] }), recall: () => [], uses: () => [] };

/** After the ledger has all settlements, the journal stays open until its admissions have left every rate window: rebuilds need them. */
async function bringToLedger(
  folder: string,
  { bus, clock, log, takeOver, blocks, files = diskFiles }: OrphanedSpoolParts,
  signal: AbortSignal,
): Promise<boolean> {
  using journal = new GenerationJournal({ bus, clock, log, folder, files });
  journal.useBlocks({ ...noBlocks, settled: (block, reserved) => blocks.settled(block, reserved) });
  const { pendingAdmissions, blocks: lent, admitted, ...owed } = journal.recover();
  takeOver({ pendingAdmissions, blocks: lent, admitted });
  const facts = { event: "spool.adopted", folder, ...owed };
  if (owed.settled + owed.interrupted + owed.unknown > 0) log.warn(facts, "Adopted a dead gateway's spool");
  if (!(await journal.flushed(adoptionFlushMs))) return false;
  await sleep(clock, rateWindowMs, signal);
  return !signal.aborted;
}

function hasSegments(folder: string, files: SpoolFiles = diskFiles): boolean {
  try {
    return files.list(folder).length > 0;
  } catch {
    return false;
  }
}
