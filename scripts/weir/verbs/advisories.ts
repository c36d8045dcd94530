/**
 * `weir advisories import`: sends the records of a source in batches of the size that the service accepts, and counts the outcomes.
 *
 * The order is kept, so that an interrupted import resumes after the last stored record.
 */
import {
  CursorError,
  type Cursor,
  readAdvisories,
  type Progress,
  type Reading,
} from "../../../src/security/advisories/read-advisories.ts";
import {
  advisoryFailuresShownMax,
  advisoryBatchBytesMax,
  advisoryBatchMax,
  advisoryBytesMax,
} from "../../../src/security/limits.ts";
import { CallError, reasonOf, answerAs } from "../call.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function importAdvisories(fields: Record<string, unknown>, { post, showProgress }: Sending): Promise<LocalAnswer> {
  const path = String(fields["path"]);
  const after = fields["after"] === undefined ? undefined : readCursor(String(fields["after"]));
  const show = atIntervals(showProgress);
  let done = fields["after"] ?? null;
  try {
    const tally = await storeAdvisories(
      {
        source: path === "-" ? { name: "stdin", bytes: process.stdin } : { path },
        after,
        onStored({ tally: soFar, cursor, progress }) {
          done = `${cursor.document}#${cursor.record}`;
          show(() => tallyText(soFar, progress));
        },
      },
      post,
    );
    return answerOf(tally);
  } catch (error) {
    throw interruption(error, path, done);
  }
}

function interruption(error: unknown, path: string, done: unknown): unknown {
  if (error instanceof CursorError) return new UsageError(error.message);
  if (error instanceof CallError) {
    const where = done === null ? "" : `; stored records stay, and --after '${String(done)}' continues from there`;
    return new CallError(`${error.message}${where}`, { cause: error });
  }
  if (error instanceof Error && "code" in error)
    return new CallError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  return error;
}

/** @throws UsageError */
function readCursor(text: string): Cursor {
  const [, document, record] = /^(.+)#(\d{1,9})$/s.exec(text) ?? [];
  if (document === undefined) throw new UsageError(`--after: "${text}" is not a place that an import printed`);
  return { document, record: Number(record) };
}

export interface Tally {
  read: number;
  imported: number;
  unchanged: number;
  failed: number;
  failures: Failure[];
}

interface StoredSoFar {
  tally: Tally;
  /** The last stored record. */
  cursor: Cursor;
  progress: Progress | null;
  /** Failures of the last batch. */
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
  return answerAs<Stored>(await post({ records: records.map(({ raw }) => raw) }));
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

export function tallyText({ read, imported, unchanged, failed }: Tally, progress: Progress | null = null): string {
  const part = progress?.bytesTotal ? ` (${Math.floor((100 * progress.bytesRead) / progress.bytesTotal)} %)` : "";
  return `${read} read${part}: ${imported} imported, ${unchanged} unchanged, ${failed} failed`;
}

/** The minimum time between two lines of progress. */
const progressMs = 1_000;

/** Shows a line unless another was shown a moment ago. */
export function atIntervals(show: (line: string) => void): (line: () => string) => void {
  let shownMs = performance.now();
  return (line) => {
    if (performance.now() - shownMs < progressMs) return;
    shownMs = performance.now();
    show(line());
  };
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

interface AdvisoryBatch {
  records: { name: string; raw: unknown }[];
  /** Documents among them that are not records. */
  failures: Failure[];
  /** The place of the last one. */
  cursor: Cursor;
}

interface Failure {
  record: string;
  reason: string;
}

/** Keeps the order. No batch is empty. */
async function* advisoryBatches(readings: AsyncIterable<Reading>): AsyncGenerator<AdvisoryBatch> {
  let batch: AdvisoryBatch | null = null;
  let bytes = 0;
  for await (const reading of readings) {
    batch ??= { records: [], failures: [], cursor: reading.cursor };
    batch.cursor = reading.cursor;
    const size = take(reading, batch);
    bytes += size;
    if (batch.records.length < advisoryBatchMax && batch.failures.length < advisoryBatchMax && bytes < advisoryBatchBytesMax)
      continue;
    yield batch;
    batch = null;
    bytes = 0;
  }
  if (batch !== null) yield batch;
}

/** @returns how many bytes it adds to the request */
function take(reading: Reading, batch: AdvisoryBatch): number {
  const { name } = reading;
  if ("failure" in reading) {
    batch.failures.push({ record: name, reason: reading.failure });
    return 0;
  }
  // A number may be longer in the JSON that is sent than in the record.
  const bytes = Buffer.byteLength(JSON.stringify(reading.raw));
  if (bytes <= advisoryBytesMax) batch.records.push({ name, raw: reading.raw });
  else batch.failures.push({ record: name, reason: `is larger than ${advisoryBytesMax} bytes, the limit of a record` });
  return bytes;
}
