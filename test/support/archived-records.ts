/** OSV records of a tar.gz, JSON or YAML, all in memory: for archives of some megabytes. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { OsvAffected } from "../../src/versions/osv-affected.ts";

export interface ArchivedRecord {
  id: string;
  affected?: (OsvAffected & { package: { ecosystem: string; name: string } })[];
}

const blockBytes = 512;

/** Of a header a name and an octal size are read, as all tar formats have them: enough for short names. */
export function recordsOf(path: string): ArchivedRecord[] {
  const archive = gunzipSync(readFileSync(path));
  const records: ArchivedRecord[] = [];
  for (let at = 0; at + blockBytes <= archive.length && archive[at] !== 0;) {
    const name = archive.toString("utf8", at, at + 100).replace(/\0.*$/s, "");
    const bytes = Number.parseInt(archive.toString("latin1", at + 124, at + 136), 8);
    const text = archive.toString("utf8", at + blockBytes, at + blockBytes + bytes);
    if (/\.(?:json|ya?ml)$/.test(name)) records.push(recordOf({ name, text }));
    at += blockBytes + Math.ceil(bytes / blockBytes) * blockBytes;
  }
  return records;
}

/** The archives are checked records of the schema; what a test reads of them is what `ArchivedRecord` names. */
function recordOf({ name, text }: { name: string; text: string }): ArchivedRecord {
  return (name.endsWith(".json") ? JSON.parse(text) : Bun.YAML.parse(text)) as ArchivedRecord;
}
