/** Small archives written byte by byte, so that tests can make the broken ones that no tool would. */
import { readFileSync } from "node:fs";
import { crc32, deflateRawSync, gunzipSync } from "node:zlib";

export interface ArchivedFile {
  name: string;
  text: string;
}

interface TarOptions {
  /** `0` a file, `2` a link, `x` a pax header. */
  type?: string;
}

export function tarOf(files: (ArchivedFile & TarOptions)[]): Buffer {
  return Buffer.concat([...files.map(tarFile), Buffer.alloc(1024)]);
}

function tarFile({ name, text, type = "0" }: ArchivedFile & TarOptions): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100, "utf8");
  header.write("0000644\0", 100);
  header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        ", 148);
  header.write(type, 156);
  header.write("ustar\u000000", 257);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

export interface ZipOptions {
  stored?: boolean;
  /** Sizes and checksum follow the file, as writers to a stream put them. */
  streamed?: boolean;
  encrypted?: boolean;
  method?: number;
  checksum?: number;
}

export function zipOf(files: (ArchivedFile & ZipOptions)[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const { local, central } = zipFile(file, offset);
    parts.push(local);
    directory.push(central);
    offset += local.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]);
  return Buffer.concat([...parts, ...directory, end]);
}

function zipFile({ name, text, stored, streamed, encrypted, method, checksum }: ArchivedFile & ZipOptions, offset: number) {
  const plain = Buffer.from(text);
  const body = stored ? plain : deflateRawSync(plain);
  const flags = (encrypted ? 1 : 0) | (streamed ? 8 : 0);
  const sums: Field[] = [
    [4, checksum ?? crc32(plain)],
    [4, body.length],
    [4, plain.length],
  ];
  const start: Field[] = [
    [2, 20],
    [2, flags],
    [2, method ?? (stored ? 0 : 8)],
    [4, 0],
  ];
  const sizes: Field[] = streamed
    ? [
        [4, 0],
        [4, 0],
        [4, 0],
      ]
    : sums;
  const names: Field[] = [
    [2, Buffer.byteLength(name)],
    [2, 0],
  ];
  const header = numbers([4, 0x04034b50], ...start, ...sizes, ...names);
  const descriptor = streamed ? numbers([4, 0x08074b50], ...sums) : Buffer.alloc(0);
  const rest: Field[] = [
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, offset],
  ];
  const central = numbers([4, 0x02014b50], [2, 20], ...start, ...sums, ...names, ...rest);
  return {
    local: Buffer.concat([header, Buffer.from(name), body, descriptor]),
    central: Buffer.concat([central, Buffer.from(name)]),
  };
}

/** Width in bytes, value. */
type Field = [number, number];

function numbers(...fields: Field[]): Buffer {
  return Buffer.concat(
    fields.map(([width, value]) => {
      const bytes = Buffer.alloc(width);
      bytes.writeUIntLE(value >>> 0, 0, width);
      return bytes;
    }),
  );
}

/** The files of a tar.gz, all in memory: for archives of some megabytes. */

const blockBytes = 512;

/** Reads a name and an octal size from each header, as all tar formats have them: enough for short names. */
export function archivedFiles(path: string): Map<string, Uint8Array> {
  const archive = gunzipSync(readFileSync(path));
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + blockBytes <= archive.length && archive[at] !== 0;) {
    const name = archive.toString("utf8", at, at + 100).replace(/\0.*$/s, "");
    const bytes = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8);
    files.set(name, archive.subarray(at + blockBytes, at + blockBytes + bytes));
    at += blockBytes + Math.ceil(bytes / blockBytes) * blockBytes;
  }
  return files;
}
