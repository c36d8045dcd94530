/**
 * Spools whose owner died and did not come back: any process that shares the data folder takes them over, so that what
 * was settled is charged and what was not is released within seconds, whoever is restarted or not.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bus } from "../backing/bus.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import { adoptionFlushMs, orphanScanMs } from "../limits/constants.ts";
import { GenerationBook, type BookParts } from "./book.ts";

/** Locks a folder, or gives null where its owner lives. */
export type TakeFolder = (folder: string) => Promise<AsyncDisposable | null>;

interface OrphanParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  dataDir: string;
  take: TakeFolder;
  /** Releases what the dead gateway may have been granted and never heard of. */
  giveUp(workspace: WorkspaceId, generation: GenerationId): void;
}

/** Looks every ten seconds until aborted. */
export async function adoptOrphansForEver(parts: OrphanParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(parts.clock, orphanScanMs, signal);
    if (signal.aborted) return;
    await adoptOrphans(parts).catch((error: unknown) => parts.log.warn({ event: "orphans.failed", reason: String(error) }));
  }
}

/** One round. @returns how many spools were emptied */
export async function adoptOrphans(parts: OrphanParts): Promise<number> {
  let emptied = 0;
  for (const name of readdirSync(parts.dataDir)) {
    if (/^gateway-\d+$/.test(name) && (await adopt(join(parts.dataDir, name), parts))) emptied++;
  }
  return emptied;
}

/** One that cannot be read keeps nobody from the others. */
async function adopt(folder: string, parts: OrphanParts): Promise<boolean> {
  const spool = join(folder, "spool");
  if (!hasSegments(spool)) return false;
  try {
    await using lock = await parts.take(folder);
    return lock !== null && (await emptySpool(spool, parts));
  } catch (error) {
    parts.log.error({ event: "spool.not_adopted", folder, reason: String(error) }, "A dead gateway's spool cannot be taken over");
    return false;
  }
}

async function emptySpool(folder: string, { bus, clock, log, giveUp }: OrphanParts): Promise<boolean> {
  if (!(await bringToLedger({ bus, clock, log, folder }, giveUp))) return false;
  rmSync(folder, { recursive: true, force: true });
  return true;
}

async function bringToLedger(parts: BookParts, giveUp: OrphanParts["giveUp"]): Promise<boolean> {
  using book = new GenerationBook(parts);
  const { undecided, ...owed } = book.recover();
  for (const { workspace, generation } of undecided) giveUp(workspace, generation);
  const facts = { event: "spool.adopted", folder: parts.folder, ...owed };
  if (owed.settled + owed.unknown > 0) parts.log.warn(facts, "Took over what a dead gateway owed to the ledger");
  return await book.flushed(adoptionFlushMs);
}

function hasSegments(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}
