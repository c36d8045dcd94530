/** The batch jobs of the docs, word for word: a full load, then the changes, across restarts of the service. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fleet } from "../../support/servers/fleet.ts";
import { OurProcess, repository } from "../../support/processes/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { CatalogCopy } from "./catalog-copy.ts";
import { bareConnector } from "./sample.ts";
import { connectorCount } from "../../support/connector-count.ts";

/** The program that the tutorial prints. */
function printedIn(page: string, first: string): string {
  const blocks = tutorial(page).split("```js\n");
  const example = blocks.find((part) => part.startsWith(first));
  if (example === undefined) throw new Error(`${page} has no example that begins with "${first}"`);
  return example.slice(0, example.indexOf("```"));
}

function tutorial(name: string): string {
  return readFileSync(join(repository, "docs/tutorials", name), "utf8");
}

const python = Bun.which("python3");
const jobs = [
  {
    program: "node",
    file: "sync-connectors.mjs",
    text: printedIn("first-sync.md", "// sync-connectors.mjs"),
  },
  ...(python === null ? [] : [{ program: python, file: "sync_connectors.py", text: tutorial("sync_connectors.py") }]),
];

/** Keeps its rows and its version in two files of STATE_DIR. */
const shell = Bun.which("jq") === null || Bun.which("curl") === null ? null : tutorial("sync-connectors.sh");

test("a job written from the docs loads everything, and later catches up with only the changes", async () => {
  await using folder = await temporaryFolder();
  const copy = await CatalogCopy.in(folder.path);
  for (const { file, text } of jobs) await writeFile(join(folder.path, file), text);
  if (shell !== null) await writeFile(join(folder.path, "sync-connectors.sh"), shell);
  const runShell = async (url: string): Promise<void> => {
    const environment = { WEIR_URL: url, STATE_DIR: folder.path, PATH: process.env["PATH"] ?? "" };
    await using job = new OurProcess({ program: "/bin/sh", arguments: [join(folder.path, "sync-connectors.sh")], environment });
    expect([await job.exited, job.output]).toEqual([0, ""]);
  };
  const stateOf = (file: string): string => join(folder.path, `${file}.state`);
  const run = async (url: string): Promise<string[]> => {
    if (shell !== null) await runShell(url);
    return Promise.all(
      jobs.map(async ({ program, file }) => {
        const environment = { WEIR_URL: url, STATE_FILE: stateOf(file) };
        await using job = new OurProcess({ program, arguments: [join(folder.path, file)], environment });
        expect([await job.exited, job.output]).toEqual([0, expect.any(String)]);
        return job.output;
      }),
    );
  };
  const byId = (found: { id: string }[]) => found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const same = async (url: string): Promise<void> => {
    const response = await fetch(`${url}/api/connector-exports/latest.ndjson`);
    const version = response.headers.get("x-catalog-version");
    const rows = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const { file } of jobs) {
      const state = JSON.parse(await readFile(stateOf(file), "utf8"));
      expect(state.version).toBe(version);
      expect(byId(Object.values(state.rows))).toEqual(rows);
    }
    if (shell === null) return;
    const kept = await readFile(join(folder.path, "connectors.ndjson"), "utf8");
    expect(
      byId(
        kept
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      ),
    ).toEqual(rows);
    expect(await readFile(join(folder.path, "version"), "utf8")).toBe(`${version}\n`);
  };
  const plan = { services: null, inTest: true as const, dataDir: join(folder.path, "data"), catalogDir: copy.folder };
  {
    await using fleet = await Fleet.start(plan);
    for (const output of await run(fleet.url()))
      expect(output).toMatch(new RegExp(String.raw`^${connectorCount} connectors of version \S+\.1\n$`));
    await same(fleet.url());
    for (const output of await run(fleet.url())) expect(output).toStartWith("0 changes");
  }
  await copy.write(bareConnector("Wholly New Vendor"));
  await copy.change("okta", { docs: "https://changed.example.test/docs" });
  await copy.remove("bamboohr");
  await using fleet = await Fleet.start(plan);
  for (const output of await run(fleet.url()))
    expect(output).toMatch(new RegExp(String.raw`^3 changes[^]*${connectorCount} connectors of version \S+\.2\n$`));
  await same(fleet.url());
}, 60_000);
