/** Packs files into a tar archive (POSIX.1-2017, pax interchange format), the only format in which the service takes repositories. */
import type { RepositoryFile } from "../../../src/security/lockfiles/read-lock-files.ts";

const blockBytes = 512;

export function packedFiles(files: readonly RepositoryFile[]): Buffer {
  return Buffer.concat([...files.flatMap(packed), Buffer.alloc(blockBytes * 2)]);
}

/** The name is in a pax header before the file, where it may have any length and any characters. */
function packed({ path, bytes }: RepositoryFile): Uint8Array[] {
  const name = Buffer.from(paxField("path", path));
  return [
    header("pax", name.length, "x"),
    name,
    padding(name.length),
    header("file", bytes.length, "0"),
    bytes,
    padding(bytes.length),
  ];
}

/** `<length> <key>=<value>\n`. The length counts its own digits. */
function paxField(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = Buffer.byteLength(rest);
  let length = restBytes + 1;
  while (String(length).length + restBytes !== length) length = String(length).length + restBytes;
  return `${length}${rest}`;
}

function header(name: string, size: number, type: "0" | "x"): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write("0000644\0", 100);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("        ", 148);
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function padding(length: number): Buffer {
  return Buffer.alloc((blockBytes - (length % blockBytes)) % blockBytes);
}
