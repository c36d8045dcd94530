/** The headers before and after a file of a zip archive (APPNOTE 4.3.7, 4.3.9, 4.5.3). */
import type { Bytes, ByteReader } from "./byte-reader.ts";

export interface FileHeader {
  name: string;
  encrypted: boolean;
  /** 0 stored, 8 deflated. */
  method: number;
  /** Whether sizes in the descriptor after the file have eight bytes. */
  zip64: boolean;
  /** null if the size follows the file. */
  sums: Sums | null;
}

export interface Sums {
  crc: number;
  compressed: number;
  uncompressed: number;
}

const descriptorSignature = 0x08074b50;
const in64BitField = 0xffffffff;

/** Reads the fields after a file's signature. @throws UnreadableError if the archive ends before */
export async function readFileHeader(reader: ByteReader): Promise<FileHeader> {
  const fixed = viewOf(await reader.exactly(26));
  const flags = fixed.getUint16(2, true);
  const name = new TextDecoder().decode(await reader.exactly(fixed.getUint16(22, true)));
  const sizes64 = zip64Sizes(await reader.exactly(fixed.getUint16(24, true)));
  const size = (at: number, in64Bits: number | undefined) => {
    const size32 = fixed.getUint32(at, true);
    return size32 === in64BitField ? (in64Bits ?? size32) : size32;
  };
  const sums = {
    crc: fixed.getUint32(10, true),
    compressed: size(14, sizes64?.compressed),
    uncompressed: size(18, sizes64?.uncompressed),
  };
  return {
    name,
    encrypted: (flags & 1) !== 0,
    method: fixed.getUint16(4, true),
    zip64: sizes64 !== null,
    sums: (flags & 8) === 0 ? sums : null,
  };
}

/** Reads the descriptor after a file, whose signature is optional. @throws UnreadableError if the archive ends before */
export async function readDescriptor(reader: ByteReader, zip64: boolean): Promise<Sums> {
  const first = viewOf(await reader.exactly(4)).getUint32(0, true);
  const crc = first === descriptorSignature ? viewOf(await reader.exactly(4)).getUint32(0, true) : first;
  const sizes = viewOf(await reader.exactly(zip64 ? 16 : 8));
  const size = (index: number) => (zip64 ? Number(sizes.getBigUint64(index * 8, true)) : sizes.getUint32(index * 4, true));
  return { crc, compressed: size(0), uncompressed: size(1) };
}

/** The extra field 0x0001; null if there is none. */
function zip64Sizes(extra: Bytes): { uncompressed: number; compressed: number } | null {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const size = (offset: number) => (at + offset + 8 <= extra.length ? Number(view.getBigUint64(at + offset, true)) : 0);
    return { uncompressed: size(4), compressed: size(12) };
  }
  return null;
}

function viewOf(bytes: Bytes): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
