/**
 * Spools whose owner died and did not come back: any process that shares the data folder takes them over, so that what
 * was settled is charged and what was not is released within seconds, whoever is restarted or not.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bus } from "../backing/bus.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { adoptionFlushMs, orphanScanMs } from "../limits/constants.ts";
import { GenerationBook } from "./book.ts";

/** Locks a folder, or gives null where its owner lives. */
export type TakeFolder = (folder: string) => Promise<AsyncDisposable | null>;

interface OrphanParts {
  bus: Bus;
  clock: Clock;
  log: Logger;
  dataDir: string;
  take: TakeFolder;
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
    if (!/^gateway-\d+$/.test(name)) continue;
    const spool = join(parts.dataDir, name, "spool");
    if (!hasSegments(spool)) continue;
    await using lock = await parts.take(join(parts.dataDir, name));
    if (lock !== null && (await emptySpool(spool, parts))) emptied++;
  }
  return emptied;
}

async function emptySpool(folder: string, { bus, clock, log }: OrphanParts): Promise<boolean> {
  const book = new GenerationBook({ bus, clock, log, folder });
  const { settled, unknown } = book.recover();
  log.warn({ event: "spool.adopted", folder, settled, unknown }, "Took over what a dead gateway owed to the ledger");
  const flushed = await book.flushed(adoptionFlushMs);
  book[Symbol.dispose]();
  if (flushed) rmSync(folder, { recursive: true, force: true });
  return flushed;
}

function hasSegments(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}
