/**
 * Detects a file's kind by its first bytes: a zip archive, a tar archive, or neither, each possibly compressed with gzip. Names and
 * extensions are ignored, because people rename files.
 */
import type { BudgetUsage } from "./budget.ts";
import { ByteReader, type Bytes } from "./byte-reader.ts";
import type { Entry } from "./entry.ts";
import { gunzip } from "./inflate.ts";
import { tarEntries } from "./tar.ts";
import { zipEntries } from "./zip.ts";

interface Unwrapped {
  /** null if it is not an archive and its bytes are its content. */
  entries: AsyncGenerator<Entry> | null;
  isGzip: boolean;
  /** The first bytes of the file, or of its content if it is compressed. */
  first: Bytes;
  /** Can be read once, in place of the entries. @throws UnreadableError */
  bytes(): AsyncGenerator<Bytes>;
  close(): Promise<void>;
}

/** @throws UnreadableError if compressed data is damaged or truncated */
export async function unwrap(pieces: AsyncIterable<Bytes>, usage: BudgetUsage): Promise<Unwrapped> {
  const outer = new ByteReader(pieces);
  const isGzip = startsWith(await head(outer), [0x1f, 0x8b]);
  const reader = isGzip ? new ByteReader(usage.over(gunzip(rest(outer)))) : outer;
  const close = async () => {
    await reader.close();
    await outer.close();
  };
  try {
    const first = await head(reader);
    return { entries: entriesOf(first, reader, usage), isGzip, first, bytes: () => rest(reader), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function startsWith(bytes: Bytes, mark: number[]): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}

/** The bytes that detection needs: a tar archive's magic number is at byte 257. */
const headBytes = 512;

async function head(reader: ByteReader): Promise<Bytes> {
  const first = (await reader.atMost(headBytes)).slice();
  reader.putBack(first);
  return first;
}

async function* rest(reader: ByteReader): AsyncGenerator<Bytes> {
  for (let piece = await reader.next(64 * 1024); piece !== null; piece = await reader.next(64 * 1024)) yield piece;
}

function entriesOf(first: Bytes, reader: ByteReader, usage: BudgetUsage): AsyncGenerator<Entry> | null {
  if (startsWith(first, [0x50, 0x4b, 0x03, 0x04]) || startsWith(first, [0x50, 0x4b, 0x05, 0x06]))
    return zipEntries(reader, usage);
  return isTar(first) ? tarEntries(reader) : null;
}

function isTar(first: Bytes): boolean {
  return new TextDecoder().decode(first.subarray(257, 262)) === "ustar";
}
