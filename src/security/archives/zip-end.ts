/** The end of a zip archive: where it is missing, the archive was cut within its directory. */
import type { Bytes, ByteReader } from "./byte-reader.ts";
import { UnreadableError } from "./unreadable-error.ts";

const endSignature = [0x50, 0x4b, 0x05, 0x06];
const endBytes = 22;

/** Reads to the end. @param first what was read of the directory already. @throws UnreadableError where no whole end record comes */
export async function requireEnd(reader: ByteReader, first: Bytes): Promise<void> {
  let seen = 0;
  /** Since the last signature, itself included. */
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
