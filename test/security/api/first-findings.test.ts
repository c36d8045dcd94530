/** The commands of docs/reference/tools.md lead from an empty workspace to findings. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArchiveServer } from "../../support/security/archive-server.ts";
import { osvRecord } from "../../support/security/advisories.ts";
import { zipOf, type ArchivedFile } from "../../support/security/archives.ts";
import { objectOf } from "../../support/control.ts";
import { Fleet, operatorToken } from "../../support/servers/fleet.ts";
import { OurProcess, repository } from "../../support/processes/process.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const curl = Bun.which("curl");
const waitMs = 60_000;

let folder: TemporaryFolder;
let fleet: Fleet;
beforeAll(async () => {
  folder = await temporaryFolder();
  fleet = await Fleet.start({ services: null });
}, waitMs);
afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Each line of a block of commands in that section. */
async function documented(): Promise<string[]> {
  const text = await readFile(join(repository, "docs/reference/tools.md"), "utf8");
  const [, section = ""] = /\n## From an empty workspace to findings\n(.*?)\n## /s.exec(text) ?? [];
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    block
      .trim()
      .split("\n")
      .map((line) => line.trim()),
  );
}

function record(id: string, [ecosystem, name]: [string, string], [introduced, fixed]: [string, string]): ArchivedFile {
  const ranges = [{ type: ecosystem === "Go" ? "SEMVER" : "ECOSYSTEM", events: [{ introduced }, { fixed }] }];
  const text = JSON.stringify(osvRecord(id, { affected: [{ package: { ecosystem, name }, ranges }] }));
  return { name: `${id}.json`, text };
}

/** Gives the test's records in place of OSV's. */
function publish(server: ArchiveServer): void {
  const records = [
    record("PYSEC-2026-1", ["PyPI", "django"], ["3.2", "3.2.16"]),
    record("PYSEC-2026-2", ["PyPI", "Jinja2"], ["0", "2.11.3"]),
    record("PYSEC-2026-3", ["PyPI", "lxml"], ["5.0.0", "5.1.0"]),
    record("GO-2026-1", ["Go", "golang.org/x/net"], ["0", "0.17.0"]),
  ];
  server.published.set("/PyPI/all.zip", { bytes: zipOf(records), etag: '"one"' });
}

async function project(): Promise<void> {
  const path = join(folder.path, "code/shop");
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "requirements.txt"), "django==3.2.1\njinja2==2.11.2\nlxml==4.6.2\n");
  await writeFile(join(path, "go.mod"), "module example.com/shop\n\ngo 1.21\n\nrequire golang.org/x/net v0.16.0\n");
}

/** Runs a line in a shell. @returns its output @throws Error unless it exits with 0 */
async function typed(line: string, environment: Record<string, string>): Promise<string> {
  const command = line.replaceAll("http://127.0.0.1:8080", fleet.url());
  await using shell = new OurProcess({ program: "sh", arguments: ["-c", command], environment });
  const code = await shell.exited;
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${shell.output}`);
  return shell.output;
}

function dataOf(output: string): Record<string, unknown> {
  const { success, data } = objectOf(JSON.parse(output));
  expect(success).toBe(true);
  return objectOf(data);
}

function rowsOf(rows: unknown): Record<string, unknown>[] {
  return Array.isArray(rows) ? rows.map(objectOf) : [];
}

test.skipIf(curl === null)(
  "the five commands of docs/reference/tools.md lead from an empty workspace to findings with fix versions",
  async () => {
    const commands = await documented();
    expect(commands.length).toBe(5);
    const [importing = "", uploading = "", watching = "", listing = "", asking = ""] = commands;
    await project();
    await using server = await ArchiveServer.start();
    publish(server);
    const [key = ""] = /platform-mcp-[0-9a-f]{64}/.exec((await fleet.gateways[0]?.process.says("platform-mcp-")) ?? "") ?? [];
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder.path,
      WEIR_URL: fleet.url(),
      DATA_DIR: fleet.dataDir,
      WEIR_TOKEN: operatorToken,
      WEIR_TOOLS_KEY: key,
    };
    expect(await typed(`${importing} --from ${server.url} --folder ${folder.path}`, environment)).toContain(
      "PyPI: 4 read: 4 imported, 0 unchanged, 0 failed",
    );
    const [id = ""] = /prj_[2-7a-z]{26}/.exec(await typed(uploading, environment)) ?? [];
    await until(async () => /completed/.test(await typed(watching, environment)), waitMs);
    const { findings, total } = dataOf(await typed(listing, environment));
    const found = rowsOf(findings).map((row) => [
      row["cve_id"],
      row["component"],
      row["fix_version"],
      objectOf(row["evidence"])["comparator"],
    ]);
    expect([total, found.toSorted()]).toEqual([
      3,
      [
        ["GO-2026-1", "golang.org/x/net", "0.17.0", ">= 0, < 0.17.0"],
        ["PYSEC-2026-1", "django", "3.2.16", ">= 3.2, < 3.2.16"],
        ["PYSEC-2026-2", "jinja2", "2.11.3", ">= 0, < 2.11.3"],
      ],
    ]);
    const { components } = dataOf(await typed(asking, { ...environment, WEIR_PROJECT: id }));
    const advised = rowsOf(components).map((row) => [row["component"], row["fix_version"], row["clears"]]);
    expect(advised.toSorted()).toEqual([
      ["django@3.2.1", "3.2.16", 1],
      ["golang.org/x/net@v0.16.0", "0.17.0", 1],
      ["jinja2@2.11.2", "2.11.3", 1],
    ]);
  },
  2 * waitMs,
);
