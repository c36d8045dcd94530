/** Each tutorial, typed as it is printed: its commands succeed and print what the page shows. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { osvRecord } from "../support/security/advisories.ts";
import { ArchiveServer } from "../support/security/archive-server.ts";
import { zipOf } from "../support/security/archives.ts";
import { wholeCatalog } from "../support/providers/catalogs.ts";
import { Fleet, operatorToken } from "../support/servers/fleet.ts";
import { bun, repository } from "../support/processes/process.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { readPage, readPages, type Block } from "./pages.ts";
import { differenceFrom } from "./printed-output.ts";
import { TypingShell } from "./typing-shell.ts";

const curl = Bun.which("curl");
const waitMs = 60_000;
const documented = "http://127.0.0.1:8080";

let folder: TemporaryFolder;
let archives: ArchiveServer;
let fleet: Fleet;
beforeAll(async () => {
  folder = await temporaryFolder();
  archives = await ArchiveServer.start();
  await programs(join(folder.path, "bin"));
  fleet = await Fleet.start({ services: null, catalogDir: wholeCatalog });
}, waitMs);
afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
  await archives[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/**
 * An `npm` that runs scripts at once (how npm starts them, test/scripts/bootstrap.test.ts tests) and takes advisories from the test's server.
 */
async function programs(bin: string): Promise<void> {
  await mkdir(bin);
  const records = [advisory("PYSEC-2026-1", "django", "3.2.16"), advisory("PYSEC-2026-2", "jinja2", "2.11.3")];
  archives.published.set("/PyPI/all.zip", { bytes: zipOf(records), etag: '"one"' });
  const from = `[ "$1 $2" = "advisories sync" ] && set -- "$@" --from ${archives.url}`;
  await program(join(bin, "npm"), `shift 4\n${from}\nexec ${bun} ${join(repository, "scripts/weir.ts")} "$@"`);
}

function advisory(id: string, name: string, fixed: string): { name: string; text: string } {
  const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }];
  return {
    name: `${id}.json`,
    text: JSON.stringify(osvRecord(id, { affected: [{ package: { ecosystem: "PyPI", name }, ranges }] })),
  };
}

async function program(path: string, script: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** Follows a page from its first block to its last. @throws Error at the first command whose output is not the printed one */
async function follow(blocks: Block[]): Promise<void> {
  await using shell = openShell();
  let seen = (await fleet.gateways[0]?.process.says("platform-mcp-")) ?? "";
  for (const [index, block] of blocks.entries()) {
    if (block.language === "js") await save(block, shell);
    if (block.language !== "sh") continue;
    const next = blocks[index + 1];
    const printed = next?.language === "" ? here(next.text) : "…";
    if (block.text === "npm start\n") expect(differenceFrom(`…${printed}…`, seen)).toBeNull();
    else seen += await typed({ block, commands: here(filled(block.text, seen)), printed }, shell);
  }
}

function openShell(): TypingShell {
  const { path } = folder;
  const environment = {
    PATH: `${join(path, "bin")}:${process.env["PATH"]}`,
    HOME: path,
    WEIR_URL: fleet.url(),
    DATA_DIR: fleet.dataDir,
    WEIR_TOKEN: operatorToken,
  };
  return new TypingShell({ folder: path, environment });
}

/** The address of the test's service in place of the usual one. */
function here(text: string): string {
  return text.replaceAll(documented, fleet.url());
}

/** Saves a program that names its file in its first line, where the shell is. */
async function save({ text, at }: Block, shell: TypingShell): Promise<void> {
  const [, file] = /^\/\/ (\S+)\n/.exec(text) ?? [];
  if (file === undefined) throw new Error(`${at}: the first line does not name the file`);
  await writeFile(join(await shell.type("pwd"), file), text);
}

interface Step {
  block: Block;
  commands: string;
  printed: string;
}

/** Types commands, again and again where the page says so. @returns their output */
async function typed({ block: { at, before }, commands, printed }: Step, shell: TypingShell): Promise<string> {
  const output = await shell.type(commands);
  const difference = differenceFrom(printed, output);
  if (difference === null) return output;
  if (!/\brepeat\b/i.test(before)) throw new Error(`${at}: ${difference} in\n${output}`);
  await until(async () => differenceFrom(printed, await shell.type(commands)) === null, waitMs / 2);
  return output;
}

/** Gives a value that the page cuts off, as in `export KEY=platform-api-…`, the newest one that was printed. */
function filled(text: string, seen: string): string {
  return text.replace(/^(export \w+=)([a-z_-]+)…$/gm, (_, name: string, start: string) => {
    const value = [...seen.matchAll(new RegExp(`${start}[0-9a-z]{26,}`, "g"))].at(-1)?.[0];
    if (value === undefined) throw new Error(`Nothing that was printed begins with ${start}`);
    return `${name}${value}`;
  });
}

const tutorials = ["tutorials/first-request.md", "tutorials/first-findings.md", "tutorials/first-sync.md"];

test.skipIf(curl === null).each(tutorials)(
  "%s leads where it says",
  async (path) => {
    await follow(readPage(path).blocks);
  },
  2 * waitMs,
);

test("every tutorial is followed", () => {
  const pages = readPages().filter(({ path }) => path.startsWith("tutorials/"));
  expect(pages.map(({ path }) => path)).toEqual(tutorials.toSorted());
});
