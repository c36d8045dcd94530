/**
 * Runs osv-scanner over the corpus, offline and with the corpus' own advisories, and keeps in `osv-scanner.json` what it finds in each
 * document, or why it read none. `corpus.test.ts` explains each difference.
 *
 *   OSV_SCANNER=osv-scanner bun test/security/corpus/osv-scanner.ts          every document
 *   bun test/security/corpus/osv-scanner.ts npm cargo                         only those whose names begin so; the others keep what they have
 *
 * Version 1.9.2: version 2 asks for a newer Go than most have.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFormatOf } from "../../../src/security/lockfiles/formats.ts";
import { records } from "./records.ts";
import { recipes } from "./recipes.ts";

const home = import.meta.dir;
const top = mkdtempSync(join(tmpdir(), "osv-"));

/** The databases in the places and form in which osv-scanner keeps those that it downloads. */
function writeDatabases(): void {
  for (const ecosystem of new Set(records.map((record) => record.package.ecosystem))) {
    const folder = join(top, "osv-scanner", ecosystem);
    mkdirSync(folder, { recursive: true });
    for (const { id, package: named, ...rest } of records.filter((record) => record.package.ecosystem === ecosystem)) {
      // OSV's records have PyPI's normalized names, and osv-scanner finds no other spelling.
      const name = ecosystem === "PyPI" ? named.name.toLowerCase() : named.name;
      const affected = [{ package: { ecosystem, name }, ...rest }];
      const record = { schema_version: "1.6.0", id, modified: "2026-01-01T00:00:00Z", affected };
      writeFileSync(join(folder, `${id}.json`), JSON.stringify(record));
    }
    spawnSync("python3", ["-m", "zipfile", "-c", "all.zip", ...readdirSync(folder)], { cwd: folder });
  }
}

interface Report {
  results?: {
    packages: { package: { name: string; version: string; ecosystem: string }; vulnerabilities?: { id: string }[] }[];
  }[];
}

/** The scanner recognizes a format by the name of the file. For other names it takes the format as a prefix. */
function formatOf(path: string): string {
  if (path.endsWith("npm-shrinkwrap.json")) return "package-lock.json:";
  if (path.endsWith("gems.locked")) return "Gemfile.lock:";
  return path.endsWith(".txt") ? "requirements.txt:" : "";
}

/** @returns a text: why it read nothing */
function findingsIn(paths: readonly string[]): string[] | string {
  const inputs = paths.map((path) => (lockFormatOf(path) === null ? `--sbom=${path}` : `--lockfile=${formatOf(path)}${path}`));
  const { stdout, stderr } = spawnSync(
    process.env["OSV_SCANNER"] ?? "osv-scanner",
    ["--experimental-offline", "--format=json", ...inputs],
    { encoding: "utf8", env: { ...process.env, OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY: top }, timeout: 60_000 },
  );
  if (!stdout.startsWith("{")) return stderr.trim().split("\n").at(-1)?.replaceAll(home, "") ?? "";
  const { results = [] } = JSON.parse(stdout) as Report;
  const found = results.flatMap((result) =>
    result.packages.flatMap(({ package: { name, version, ecosystem }, vulnerabilities = [] }) =>
      vulnerabilities.map(
        ({ id }) => `${id} ${ecosystem} ${name}@${ecosystem === "Go" ? version.replace(/^(?=\d)/, "v") : version}`,
      ),
    ),
  );
  return [...new Set(found)].toSorted();
}

function pathsOf(name: string): string[] {
  const folder = join(home, "documents", name);
  return readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

writeDatabases();
try {
  const made = new Set(readdirSync(join(home, "documents")));
  const readable = recipes.filter(({ name, refusal }) => made.has(name) && refusal === undefined);
  const chosen = process.argv.slice(2);
  const wanted = readable.filter(({ name }) => chosen.length === 0 || chosen.some((beginning) => name.startsWith(beginning)));
  const read = wanted.map(({ name }) => {
    const paths = pathsOf(name);
    const locks = paths.filter((path) => lockFormatOf(path) !== null);
    return [name, findingsIn(locks.length > 0 ? locks : paths)] as const;
  });
  const file = join(home, "osv-scanner.json");
  const before = chosen.length === 0 ? {} : (JSON.parse(readFileSync(file, "utf8")) as object);
  const all = Object.entries({ ...before, ...Object.fromEntries(read) }).toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  const unread = read.filter(([, found]) => typeof found === "string");
  console.log(`${read.length - unread.length} documents read, ${unread.length} not:`);
  for (const [name, reason] of unread) console.log(`${name}: ${String(reason)}`);
} finally {
  rmSync(top, { recursive: true, force: true });
}
