/** Reads advisories from a source, sends them to the service batch by batch, and counts what became of them. */
import { readAdvisories, type Cursor, type Progress } from "../../../src/security/advisories/read-advisories.ts";
import { advisoryFailuresShownMax } from "../../../src/security/limits.ts";
import type { LocalAnswer, Sending } from "../verb.ts";
import { advisoryBatches, type AdvisoryBatch, type Failure } from "./advisory-batches.ts";

export interface Tally {
  read: number;
  imported: number;
  unchanged: number;
  failed: number;
  failures: Failure[];
}

export interface StoredSoFar {
  tally: Tally;
  /** The last stored record. */
  cursor: Cursor;
  progress: Progress | null;
  /** Those of the last batch. */
  failures: readonly Failure[];
}

interface StoreOptions {
  source: Parameters<typeof readAdvisories>[0]["source"];
  after: Cursor | undefined;
  /** Called after each batch. */
  onStored(soFar: StoredSoFar): void;
}

/** @throws CallError when a batch cannot be stored; like readAdvisories for a source that cannot be read */
export async function storeAdvisories({ source, after, onStored }: StoreOptions, post: Sending["post"]): Promise<Tally> {
  const tally: Tally = { read: 0, imported: 0, unchanged: 0, failed: 0, failures: [] };
  let progress: Progress | null = null;
  const readings = readAdvisories({ source, after, onProgress: (now) => (progress = now) });
  for await (const batch of advisoryBatches(readings)) {
    const failures = add(batch, await storeBatch(batch, post), tally);
    onStored({ tally, cursor: batch.cursor, progress, failures });
  }
  return tally;
}

interface Stored {
  imported: number;
  unchanged: number;
  failures: { index: number; reason: string }[];
}

async function storeBatch({ records }: AdvisoryBatch, post: Sending["post"]): Promise<Stored> {
  if (records.length === 0) return { imported: 0, unchanged: 0, failures: [] };
  const answer = await post({ records: records.map(({ raw }) => raw) });
  return storedFrom(answer);
}

/** The control API's document states that its answer has these fields. */
function storedFrom(answer: Record<string, unknown>): Stored {
  return answer as unknown as Stored;
}

function add({ records, failures }: AdvisoryBatch, stored: Stored, tally: Tally): Failure[] {
  const refused = stored.failures.map(({ index, reason }) => ({ record: records[index]?.name ?? `record ${index}`, reason }));
  const failed = [...failures, ...refused];
  tally.read += records.length + failures.length;
  tally.imported += stored.imported;
  tally.unchanged += stored.unchanged;
  tally.failed += failed.length;
  tally.failures.push(...failed.slice(0, advisoryFailuresShownMax - tally.failures.length));
  return failed;
}

export function tallyText({ read, imported, unchanged, failed }: Tally): string {
  return `${read} read: ${imported} imported, ${unchanged} unchanged, ${failed} failed`;
}

export function progressText({ read, imported, unchanged, failed }: Tally, progress: Progress | null): string {
  const part = progress?.bytesTotal ? ` (${Math.floor((100 * progress.bytesRead) / progress.bytesTotal)} %)` : "";
  return `${read} read${part}: ${imported} imported, ${unchanged} unchanged, ${failed} failed`;
}

/** A line for each failure that is shown. */
export function failureLines({ failed, failures }: Tally): string[] {
  const lines = failures.map(({ record, reason }) => `${record}: ${reason}`);
  return failed > failures.length ? [...lines, `and ${failed - failures.length} more`] : lines;
}

export function answerOf(tally: Tally): LocalAnswer {
  const nothing = tally.imported + tally.unchanged === 0;
  return {
    body: { ...tally, ...(nothing && { ok: false }) },
    text: tallyText(tally),
    errors: [...failureLines(tally), ...(nothing ? ["No record could be read"] : [])],
  };
}

export function printCursor({ document, record }: Cursor): string {
  return `${document}#${record}`;
}

/** @returns null for a text that is not a cursor */
export function parseCursor(cursor: string): Cursor | null {
  const [, document, record] = /^(.+)#(\d{1,9})$/s.exec(cursor) ?? [];
  return document === undefined ? null : { document, record: Number(record) };
}
