/** Groups advisories into batches of the size that the service takes. */
import type { Cursor, Reading } from "../../../src/security/advisories/read-advisories.ts";
import { advisoryBatchBytesMax, advisoryBatchMax, advisoryBytesMax } from "../../../src/security/limits.ts";

export interface AdvisoryBatch {
  records: { name: string; raw: unknown }[];
  /** Those among them that are not records. */
  failures: Failure[];
  /** The place of the last one. */
  cursor: Cursor;
}

export interface Failure {
  record: string;
  reason: string;
}

/** Keeps the order. No batch is empty. */
export async function* advisoryBatches(readings: AsyncIterable<Reading>): AsyncGenerator<AdvisoryBatch> {
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
