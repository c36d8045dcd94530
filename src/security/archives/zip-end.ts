/** The end of a zip archive: without it, the archive was cut off within its directory. */
import type { Bytes, ByteReader } from "./byte-reader.ts";
import { UnreadableError } from "./unreadable-error.ts";

const endSignature = [0x50, 0x4b, 0x05, 0x06];
const endBytes = 22;

/**
 * Reads to the end. @param first the part of the directory that was read already. @throws UnreadableError if no complete end
 * record follows
 */
export async function requireEnd(reader: ByteReader, first: Bytes): Promise<void> {
  let seen = 0;
  /** Since the last signature, inclusive. */
  let length = 0;
  for (let piece: Bytes | null = first; piece !== null; piece = await reader.next(64 * 1024)) {
    for (const byte of piece) {
      if (length > 0) length++;
      seen = byte === endSignature[seen] ? seen + 1 : Number(byte === endSignature[0]);
      if (seen === endSignature.length) length = seen;
    }
  }
  if (length < endBytes) throw new UnreadableError("ends within its directory: it is truncated");
}
