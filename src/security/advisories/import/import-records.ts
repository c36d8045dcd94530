/** Imports the records of sources: stores each record, and updates the issues that the records are about. */
import { type Database, type Transaction, allowStatements } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { advisoryBatchAttemptsMax, advisoryBatchMs } from "../../limits.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { noteImported } from "./ecosystem-store.ts";
import { isNotOlder } from "./modified.ts";
import { readRecord, type PreparedRecord } from "./prepared-record.ts";
import { ReadRecord } from "./subprocess-codec.ts";
import { storeRecords } from "./store-records.ts";
import { lockImports, selectFacts, type StoredFacts } from "./store.ts";

export interface Imported {
  /** Records that are new or replaced an older state. */
  imported: number;
  /** Records that were already stored, in the same or a newer state. */
  unchanged: number;
  failures: RecordFailure[];
  /** The number of projects whose scan was requested. */
  scans: number;
}

export interface RecordFailure {
  /** The record's index in the batch. */
  index: number;
  reason: string;
}

/**
 * Imports a batch in one transaction. A record replaces the stored one unless its `modified` is older; an invalid record is reported by its
 * index. Importing the same batch again changes nothing.
 * @param records parsed values, or records that a subprocess read
 */
export async function importRecords(
  records: readonly unknown[],
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<Imported> {
  const at = new Date(clock.now());
  const { candidates, failures } = await readAll(records, new EventLoopYielder(clock));
  const latest = latestOf(candidates);
  const done = await withoutDeadlock(() => sql.begin((tx) => store([...latest.values()], at, tx)));
  return { ...done, unchanged: candidates.length - done.imported, failures };
}

async function store(
  candidates: readonly PreparedRecord[],
  at: Date,
  tx: Transaction,
): Promise<Pick<Imported, "imported" | "scans">> {
  await allowStatements(advisoryBatchMs, tx);
  await lockImports(tx);
  const ids = candidates.map(({ id }) => id);
  const stored = await selectFacts(ids, tx);
  await noteImported({ records: candidates, at }, tx);
  const changed = candidates.filter((candidate) => replaces(candidate, stored.get(candidate.id)));
  return { imported: changed.length, scans: changed.length === 0 ? 0 : await storeRecords({ records: changed, at }, tx) };
}

/** Retries after a deadlock with a scan that locks the same findings in another order: the database then cancels one of the two. */
async function withoutDeadlock<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      const isDeadlock = error instanceof Error && "code" in error && error.code === "40P01";
      if (!isDeadlock || made === advisoryBatchAttemptsMax) throw error;
    }
  }
}

async function readAll(
  records: readonly unknown[],
  yielder: EventLoopYielder,
): Promise<{ candidates: PreparedRecord[]; failures: RecordFailure[] }> {
  const candidates: PreparedRecord[] = [];
  const failures: RecordFailure[] = [];
  for (const [index, raw] of records.entries()) {
    const read = raw instanceof ReadRecord ? raw.read : readRecord(raw);
    if ("reason" in read) failures.push({ index, reason: read.reason });
    else candidates.push(read);
    await yielder.yieldIfDue();
  }
  return { candidates, failures };
}

/** The newest state of each record in a batch; of equally new ones the last. */
function latestOf(candidates: readonly PreparedRecord[]): Map<string, PreparedRecord> {
  const latest = new Map<string, PreparedRecord>();
  for (const candidate of candidates) {
    const { id, modified } = candidate;
    const stored = latest.get(id)?.modified;
    if (stored === undefined || isNotOlder({ candidate: modified, stored })) latest.set(id, candidate);
  }
  return latest;
}

function replaces({ modified, digest }: PreparedRecord, stored: StoredFacts | undefined): boolean {
  if (stored === undefined) return true;
  return digest !== stored.digest && isNotOlder({ candidate: modified, stored: stored.modified });
}
