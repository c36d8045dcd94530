/** Reading advisories in tests. */
import { readAdvisories, type Reading, type ReadOptions } from "../../../src/security/advisories/read-advisories.ts";

/** The least that a record may be. */
export function osvRecord(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { id, modified: "2026-01-01T00:00:00Z", ...fields };
}

export async function readAll(options: ReadOptions): Promise<Reading[]> {
  return Array.fromAsync(readAdvisories(options));
}

const archives = new Map<string, Promise<Reading[]>>();

/** What an archive of real records holds: read once for all files of a process, which must not change it. */
export function readArchive(path: string): Promise<Reading[]> {
  const known = archives.get(path) ?? readAll({ source: { path } });
  archives.set(path, known);
  return known;
}

export interface StreamOptions extends Omit<ReadOptions, "source"> {
  name?: string;
  /** How many bytes come at once; absent: all. */
  pieceBytes?: number;
}

/** Reads what a stream brings. */
export async function readStream(
  content: string | Uint8Array,
  { name = "stream", pieceBytes, ...options }: StreamOptions = {},
): Promise<Reading[]> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return readAll({ ...options, source: { name, bytes: inPieces(bytes, pieceBytes ?? (bytes.length || 1)) } });
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** The id of each record, or the name and the failure of an invalid one. */
export function idsAndFailures(readings: Reading[]): string[] {
  return readings.map((reading) => ("advisory" in reading ? reading.advisory.id : `${reading.name} ${reading.failure}`));
}
