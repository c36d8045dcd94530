/**
 * The regular files of a tar archive: ustar, GNU and pax (POSIX.1-2017, pax interchange format). Devices are skipped. Written by hand,
 * because it shares the reader, the budget and the handling of truncated archives with zip and folders.
 */
import { tarHeaderBytesMax } from "../limits.ts";
import { type Bytes, type ByteReader, type Section, UnreadableError } from "./byte-reader.ts";
import { linkRefusal, refusalOfName, type Entry } from "./entry.ts";

const blockBytes = 512;

/** What preceding headers say about the next entry. */
interface Announced {
  name?: string;
  size?: number;
}

/** @throws UnreadableError if the archive is damaged or truncated, after all entries before the fault */
export async function* tarEntries(reader: ByteReader): AsyncGenerator<Entry> {
  let pending: Announced = {};
  for (;;) {
    const block = await reader.exactly(blockBytes);
    if (block.every((byte) => byte === 0)) return;
    const header = headerFrom(block);
    const section = { left: pending.size ?? header.size };
    const padding = (blockBytes - (section.left % blockBytes)) % blockBytes;
    if ("xgLK".includes(header.type)) {
      const fields = fieldsOf(header.type, await readSmall(reader, section));
      pending = { ...pending, ...fields };
    } else {
      const name = pending.name ?? header.name;
      pending = {};
      if (header.type === "0" || header.type === "7") yield entryOf(reader, section, name);
      if (header.type === "1" || header.type === "2") yield { ...entryOf(reader, section, name), refusal: linkRefusal };
      await reader.skip(section);
    }
    await reader.skip({ left: padding });
  }
}

interface Header {
  name: string;
  size: number;
  type: string;
}

function headerFrom(block: Bytes): Header {
  requireChecksum(block);
  const magic = textOf(block.subarray(257, 262));
  const prefix = magic === "ustar" && block[262] === 0 ? textOf(block.subarray(345, 500)) : "";
  const name = textOf(block.subarray(0, 100));
  const type = String.fromCharCode(block[156] ?? 0);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    size: numberOf(block.subarray(124, 136)),
    type: type === "\0" ? "0" : type,
  };
}

/** The sum of all bytes, with its own eight counted as spaces. */
function requireChecksum(block: Bytes): void {
  let sum = 0;
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  if (sum !== numberOf(block.subarray(148, 156)))
    throw new UnreadableError("holds a damaged tar header, or is not a tar archive");
}

/** Octal digits, or GNU's big-endian binary if the first bit is set. */
function numberOf(field: Bytes): number {
  const first = field[0] ?? 0;
  const value = first & 0x80 ? field.subarray(1).reduce((sum, byte) => sum * 256 + byte, first & 0x7f) : octalOf(textOf(field));
  if (!Number.isSafeInteger(value) || value < 0)
    throw new UnreadableError("holds a damaged tar header: a number in it cannot be read");
  return value;
}

function octalOf(text: string): number {
  const digits = text.trim();
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || "0", 8) : Number.NaN;
}

/** UTF-8 up to the first zero byte. */
function textOf(field: Bytes): string {
  const end = field.indexOf(0);
  return new TextDecoder().decode(end === -1 ? field : field.subarray(0, end));
}

/** `x`: pax fields of the next entry; `L`: its name. Fields for all entries (`g`) and link targets (`K`) are not needed. */
function fieldsOf(type: string, bytes: Bytes): Announced {
  if (type === "L") return { name: textOf(bytes) };
  if (type !== "x") return {};
  const fields = paxFields(bytes);
  const [name, size] = [fields.get("path"), fields.get("size")];
  if (size !== undefined && !/^\d{1,15}$/.test(size))
    throw new UnreadableError("holds a damaged pax header: its size cannot be read");
  return { ...(name !== undefined && { name }), ...(size !== undefined && { size: Number(size) }) };
}

/** Lines `<length> <key>=<value>\n`; the length counts the whole line in bytes. */
function paxFields(bytes: Bytes): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(textOf(bytes.subarray(at, space)));
    if (!Number.isSafeInteger(length) || length <= space - at) throw new UnreadableError("holds a damaged pax header");
    const [, key = "", value = ""] = /^([^=]*)=([^]*)\n$/.exec(textOf(bytes.subarray(space + 1, at + length))) ?? [];
    fields.set(key, value);
    at += length;
  }
  return fields;
}

async function readSmall(reader: ByteReader, section: Section): Promise<Bytes> {
  if (section.left > tarHeaderBytesMax)
    throw new UnreadableError(`holds a tar header of ${section.left} bytes; at most ${tarHeaderBytesMax} are accepted`);
  const bytes = await reader.exactly(section.left);
  section.left = 0;
  return bytes;
}

function entryOf(reader: ByteReader, section: Section, name: string): Entry {
  return { name, refusal: refusalOfName(name), bytes: () => reader.section(section) };
}

/** The longest name in a header that is not a pax header. */
export const tarNameBytesMax = 100;

/** A tar archive of one file. @param name of ASCII characters, at most `tarNameBytesMax` */
export function tarOfFile(name: string, bytes: Uint8Array): Uint8Array {
  const tar = new Uint8Array(blockBytes * (3 + Math.ceil(bytes.length / blockBytes)));
  const write = (at: number, text: string): void => tar.set(new TextEncoder().encode(text), at);
  write(0, name);
  write(100, "0000644");
  write(124, bytes.length.toString(8).padStart(11, "0"));
  write(156, "0");
  write(257, "ustar\u000000");
  // The sum counts its own field as spaces.
  write(148, " ".repeat(8));
  const sum = tar.subarray(0, blockBytes).reduce((total, byte) => total + byte, 0);
  write(148, `${sum.toString(8).padStart(6, "0")}\u0000 `);
  tar.set(bytes, blockBytes);
  return tar;
}
