/**
 * Files as one archive: the zip format by https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, written while it is sent.
 *
 * One file is in memory at a time, so that its size and checksum stand before its bytes, which every program can read. The caller bounds
 * the files. There is no encryption and no archive above 4 GB. Names are UTF-8, and times are in UTC.
 */
import { crc32, deflateRaw } from "node:zlib";
import { promisify } from "node:util";

export interface ZippedFile {
  /** With `/` between folders. */
  name: string;
  bytes: Uint8Array;
}

interface Archive {
  /** The name of the file without its extension. */
  name: string;
  /** Read as the client takes the answer, and ended if it leaves. */
  files: AsyncIterable<ZippedFile>;
  at: Date;
  /** Disposed of once the archive is sent, failed, or its client left. */
  turn: Disposable;
}

export function zipResponse({ name, files, at, turn }: Archive): Response {
  const pieces = zipPieces(files, at);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await pieces.next();
        if (next.done !== true) return controller.enqueue(next.value);
        controller.close();
        turn[Symbol.dispose]();
      } catch (error) {
        turn[Symbol.dispose]();
        throw error;
      }
    },
    // The client may leave before the first piece: then `files` has not begun, and so ends nothing.
    async cancel() {
      turn[Symbol.dispose]();
      await pieces.return();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]+/g, "-")}.zip"`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

const deflate = promisify(deflateRaw);

async function* zipPieces(files: AsyncIterable<ZippedFile>, at: Date): AsyncGenerator<Uint8Array, void> {
  const entries: Buffer[] = [];
  let offset = 0;
  for await (const { name, bytes } of files) {
    const packed = await deflate(bytes);
    const facts = { name, size: bytes.length, packedSize: packed.length, crc: crc32(bytes), at };
    const header = localHeader(facts);
    yield header;
    yield packed;
    entries.push(directoryEntry(facts, offset));
    offset += header.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  yield directory;
  yield endOfDirectory({ count: entries.length, size: directory.length, offset });
}

interface Facts {
  name: string;
  size: number;
  packedSize: number;
  crc: number;
  at: Date;
}

/** Version 2.0, which deflating needs. */
const version = 20;
const nameIsUtf8 = 0x0800;
const deflated = 8;

/** What both headers of a file have in common. */
function commonFields({ name, size, packedSize, crc, at }: Facts): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(version, 0);
  fields.writeUInt16LE(nameIsUtf8, 2);
  fields.writeUInt16LE(deflated, 4);
  fields.writeUInt16LE(dosTime(at), 6);
  fields.writeUInt16LE(dosDate(at), 8);
  fields.writeUInt32LE(crc, 10);
  fields.writeUInt32LE(packedSize, 14);
  fields.writeUInt32LE(size, 18);
  fields.writeUInt16LE(Buffer.byteLength(name), 22);
  // No further fields: 24 to 26 stay zero.
  return fields;
}

function localHeader(facts: Facts): Buffer {
  return Buffer.concat([signature(0x04034b50), commonFields(facts), Buffer.from(facts.name)]);
}

/** Comment, disk and attributes stay zero. */
function directoryEntry(facts: Facts, offset: number): Buffer {
  const madeBy = Buffer.alloc(2);
  madeBy.writeUInt16LE(version, 0);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([signature(0x02014b50), madeBy, commonFields(facts), rest, Buffer.from(facts.name)]);
}

function endOfDirectory({ count, size, offset }: { count: number; size: number; offset: number }): Buffer {
  const end = Buffer.alloc(18);
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([signature(0x06054b50), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}

/** Two-second steps. */
function dosTime(at: Date): number {
  return (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
}

/** Years from 1980. */
function dosDate(at: Date): number {
  return ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
}
