/**
 * Spools whose owner died and did not come back: any process that shares the data folder takes them over, so that what
 * was settled is charged and what was not is released within seconds, whoever is restarted or not.
 */
import { join } from "node:path";
import type { Bus } from "../../backing/bus.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { rateWindowMs } from "../../backing/limits.ts";
import { adoptionFlushMs, orphanScanMs } from "../limits.ts";
import { GenerationBook } from "./journal.ts";
import { diskFiles, type SpoolFiles } from "./spool-files.ts";

/** Locks a folder, or gives null where its owner lives. */
export type TakeFolder = (folder: string) => Promise<AsyncDisposable | null>;

interface OrphanParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  dataDir: string;
  take: TakeFolder;
  /** Absent: those of the disk. */
  files?: SpoolFiles;
  /** Releases what the dead gateway may have been granted and never heard of. */
  giveUp(workspace: WorkspaceId, generation: GenerationId): void;
}

/** Looks every ten seconds until aborted, and lets go then of what it has taken over and not finished with. */
export async function adoptOrphansForEver(parts: OrphanParts, signal: AbortSignal): Promise<void> {
  const adopting = new Set<Promise<number>>();
  while (!signal.aborted) {
    await sleep(parts.clock, orphanScanMs, signal);
    const round = signal.aborted ? Promise.resolve(0) : adoptOrphans(parts, signal);
    adopting.add(round);
    void round.finally(() => adopting.delete(round));
  }
  await Promise.all(adopting);
}

/** One round. Never rejects. @returns how many spools were emptied */
export async function adoptOrphans(parts: OrphanParts, signal: AbortSignal): Promise<number> {
  const adoptions = foldersIn(parts).map((name) => adopt(join(parts.dataDir, name), parts, signal));
  return (await Promise.all(adoptions)).filter(Boolean).length;
}

function foldersIn({ dataDir, log, files = diskFiles }: OrphanParts): string[] {
  try {
    return files.list(dataDir).filter((name) => /^gateway-\d+$/.test(name));
  } catch (error) {
    log.warn({ event: "orphans.failed", reason: String(error) });
    return [];
  }
}

/** One that cannot be read keeps nobody from the others. */
async function adopt(folder: string, parts: OrphanParts, signal: AbortSignal): Promise<boolean> {
  const spool = join(folder, "spool");
  if (!hasSegments(spool, parts.files)) return false;
  try {
    await using lock = await parts.take(folder);
    return lock !== null && (await emptySpool(spool, parts, signal));
  } catch (error) {
    parts.log.error({ event: "spool.not_adopted", folder, reason: String(error) }, "A dead gateway's spool cannot be taken over");
    return false;
  }
}

async function emptySpool(folder: string, parts: OrphanParts, signal: AbortSignal): Promise<boolean> {
  if (!(await bringToLedger(folder, parts, signal))) return false;
  (parts.files ?? diskFiles).remove(folder);
  return true;
}

/** In the ledger is not yet forgotten: who rebuilds counters asks here for the admissions until they have left every rate window. */
async function bringToLedger(
  folder: string,
  { bus, clock, log, giveUp, files = diskFiles }: OrphanParts,
  signal: AbortSignal,
): Promise<boolean> {
  using book = new GenerationBook({ bus, clock, log, folder, files });
  const { undecided, ...owed } = book.recover();
  for (const { workspace, generation } of undecided) giveUp(workspace, generation);
  const facts = { event: "spool.adopted", folder, ...owed };
  if (owed.settled + owed.cut + owed.unknown > 0) log.warn(facts, "Took over what a dead gateway owed to the ledger");
  if (!(await book.flushed(adoptionFlushMs))) return false;
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
