/**
 * The files of a zip archive (PKWARE's APPNOTE 6.3), read from its front by the headers before each file: so a stream can be read, and a
 * truncated archive gives all that is there. The directory at the end is looked for, and not used.
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

/** @throws UnreadableError where the archive is damaged or truncated, BudgetError; everything before has come */
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
  /** Of the compressed bytes; null: they tell their own end. */
  readonly #section: Section | null;
  readonly #pieces: AsyncGenerator<Bytes>;

  constructor(reader: ByteReader, header: FileHeader, usage: BudgetUsage) {
    this.#reader = reader;
    this.#header = header;
    this.#section = header.sums === null ? null : { left: header.sums.compressed };
    this.#pieces = this.#checked(usage);
  }

  /** Who stops reading does not stop the file: `passOver` goes on where it stood. */
  async *bytes(): AsyncGenerator<Bytes> {
    for (;;) {
      const { done, value } = await this.#pieces.next();
      if (done) return;
      yield value;
    }
  }

  /** Stands at the next header afterwards, whatever was read of this file. */
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
    const told = this.#header.sums ?? (await readDescriptor(this.#reader, this.#header.zip64));
    if (told.crc !== crc || told.uncompressed !== uncompressed) throw new UnreadableError("is damaged: its checksum is wrong");
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
