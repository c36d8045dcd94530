/**
 * The files of a zip archive (PKWARE's APPNOTE 6.3), read from the front by the headers before each file. Written by hand,
 * because libraries read the directory at the end, and so can neither read a stream nor the complete part of a truncated
 * archive.
 */
import { crc32 } from "node:zlib";
import type { BudgetUsage } from "./budget.ts";
import { ByteReader, type Bytes, type Section } from "./byte-reader.ts";
import { refusalOfName, type Entry } from "./entry.ts";
import { inflateRaw } from "./inflate.ts";
import { UnreadableError } from "./unreadable-error.ts";
import { requireEnd } from "./zip-end.ts";
import { readDescriptor, readFileHeader, type FileHeader } from "./zip-header.ts";

const fileSignature = 0x04034b50;
const directorySignatures = new Set([0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]);

/** @throws UnreadableError if the archive is damaged or truncated, BudgetError; after all entries before the fault */
export async function* zipEntries(reader: ByteReader, usage: BudgetUsage): AsyncGenerator<Entry> {
  for (;;) {
    const signature = await reader.exactly(4);
    const number = new DataView(signature.buffer, signature.byteOffset).getUint32(0, true);
    if (directorySignatures.has(number)) return requireEnd(reader, signature);
    if (number !== fileSignature) throw new UnreadableError("holds a damaged zip header, or is no zip archive");
    const header = await readFileHeader(reader);
    const file = new ZippedFile(reader, header, usage);
    if (!header.name.endsWith("/")) yield { name: header.name, refusal: refusalOf(header), bytes: () => file.bytes() };
    await file.passOver();
  }
}

function refusalOf({ name, encrypted, method }: FileHeader): string | null {
  if (encrypted) return "is encrypted";
  return method === 0 || method === 8
    ? refusalOfName(name)
    : `is compressed by method ${method}; known are 0 (stored) and 8 (deflate)`;
}

class ZippedFile {
  readonly #reader: ByteReader;
  readonly #header: FileHeader;
  /** Of the compressed bytes; null if the data marks its own end. */
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
      if (encrypted || method !== 8) throw new UnreadableError("does not tell its length, so nothing behind it can be read");
      return inflateRaw(this.#reader);
    }
    const section = this.#reader.section(this.#section);
    return method === 8 ? inflateRaw(new ByteReader(section)) : section;
  }
}
