/**
 * The files of a zip archive (PKWARE's APPNOTE 6.3), read from the front by the headers before each file (4.3.7, 4.3.9, 4.5.3). Encrypted
 * files and methods other than stored and deflated are refused one by one.
 *
 * Written by hand, because libraries read the directory at the end, so they can read neither a stream nor the intact part of a truncated
 * archive. The end record is still required: without it, the archive is truncated within its directory.
 */
import { crc32 } from "node:zlib";
import type { BudgetUsage } from "./budget.ts";
import { ByteReader, type Bytes, type Section, UnreadableError } from "./byte-reader.ts";
import { refusalOfName, type Entry } from "./entry.ts";
import { inflateRaw } from "./inflate.ts";

const fileSignature = 0x04034b50;
const directorySignatures = new Set([0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]);

/** @throws UnreadableError if the archive is damaged or truncated, BudgetError; after all entries before the fault */
export async function* zipEntries(reader: ByteReader, usage: BudgetUsage): AsyncGenerator<Entry> {
  for (;;) {
    const signature = await reader.exactly(4);
    const number = new DataView(signature.buffer, signature.byteOffset).getUint32(0, true);
    if (directorySignatures.has(number)) return requireEnd(reader, signature);
    if (number !== fileSignature) throw new UnreadableError("holds a damaged zip header, or is not a zip archive");
    const header = await readFileHeader(reader);
    const file = new ZippedFile(reader, header, usage);
    if (!header.name.endsWith("/")) yield { name: header.name, refusal: refusalOf(header), bytes: () => file.bytes() };
    await file.passOver();
  }
}

class ZippedFile {
  readonly #reader: ByteReader;
  readonly #header: FileHeader;
  /** The number of compressed bytes; null if the data marks its end. */
  readonly #section: Section | null;
  readonly #pieces: AsyncGenerator<Bytes>;

  constructor(reader: ByteReader, header: FileHeader, usage: BudgetUsage) {
    this.#reader = reader;
    this.#header = header;
    this.#section = header.sums === null ? null : { left: header.sums.compressed };
    this.#pieces = this.#checked(usage);
  }

  /** If the caller stops reading, `passOver` skips the rest of the file. */
  async *bytes(): AsyncGenerator<Bytes> {
    for (;;) {
      const { done, value } = await this.#pieces.next();
      if (done) return;
      yield value;
    }
  }

  /** Moves to the next header, however much of this file was read. */
  async passOver(): Promise<void> {
    if (this.#section === null) {
      for await (const _ of this.#pieces);
      return;
    }
    await this.#pieces.return(undefined);
    await this.#reader.skip(this.#section);
  }

  async *#checked(usage: BudgetUsage): AsyncGenerator<Bytes> {
    let [crc, uncompressed] = [0, 0];
    for await (const piece of usage.over(this.#plain())) {
      crc = crc32(piece, crc);
      uncompressed += piece.length;
      yield piece;
    }
    const sums = this.#header.sums ?? (await readDescriptor(this.#reader, this.#header.zip64));
    if (sums.crc !== crc || sums.uncompressed !== uncompressed) throw new UnreadableError("is damaged: its checksum is wrong");
  }

  #plain(): AsyncGenerator<Bytes> {
    const { encrypted, method } = this.#header;
    if (this.#section === null) {
      if (encrypted || method !== 8) throw new UnreadableError("does not give its length, so nothing after it can be read");
      return inflateRaw(this.#reader);
    }
    const section = this.#reader.section(this.#section);
    return method === 8 ? inflateRaw(new ByteReader(section)) : section;
  }
}

interface FileHeader {
  name: string;
  encrypted: boolean;
  /** 0 stored, 8 deflated. */
  method: number;
  /** Whether the descriptor after the file has eight-byte sizes. */
  zip64: boolean;
  /** null if the size follows the file. */
  sums: Sums | null;
}

interface Sums {
  crc: number;
  compressed: number;
  uncompressed: number;
}

const descriptorSignature = 0x08074b50;
const endSignature = [0x50, 0x4b, 0x05, 0x06];
const endBytes = 22;

/** Reads to the end. @param first the part of the directory already read. @throws UnreadableError if no complete end record follows */
async function requireEnd(reader: ByteReader, first: Bytes): Promise<void> {
  let seen = 0;
  /** Bytes since the last signature, inclusive. */
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

const in64BitField = 0xffffffff;

/** Reads the fields after a file's signature. @throws UnreadableError if the archive ends early */
async function readFileHeader(reader: ByteReader): Promise<FileHeader> {
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

function viewOf(bytes: Bytes): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

function refusalOf({ name, encrypted, method }: FileHeader): string | null {
  if (encrypted) return "is encrypted";
  return method === 0 || method === 8
    ? refusalOfName(name)
    : `is compressed by method ${method}; known are 0 (stored) and 8 (deflate)`;
}

/** Reads the descriptor after a file, whose signature is optional. @throws UnreadableError if the archive ends early */
async function readDescriptor(reader: ByteReader, zip64: boolean): Promise<Sums> {
  const first = viewOf(await reader.exactly(4)).getUint32(0, true);
  const crc = first === descriptorSignature ? viewOf(await reader.exactly(4)).getUint32(0, true) : first;
  const sizes = viewOf(await reader.exactly(zip64 ? 16 : 8));
  const size = (index: number) => (zip64 ? Number(sizes.getBigUint64(index * 8, true)) : sizes.getUint32(index * 4, true));
  return { crc, compressed: size(0), uncompressed: size(1) };
}
