/** The files of a tar.gz, all in memory: for archives of some megabytes. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const blockBytes = 512;

/** Of a header a name and an octal size are read, as all tar formats have them: enough for short names. */
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
