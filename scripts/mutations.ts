/**
 * `npm run mutations`: applies each patch of test/mutations, one at a time, to a copy of the code, and prints which test catches the mistake:
 * the one that the patch names, or a seed of the simulation.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { help } from "./bootstrap/help.mjs";
import type { Progress } from "../test/simulation/run-seeds.ts";

/** More seeds than any mistake has needed so far. */
const seedsMax = 600;

const root = dirname(import.meta.dir);
const folder = join(root, "test/mutations");
const copied = "src workers scripts test catalog-data docs package.json package-lock.json tsconfig.json bunfig.toml".split(" ");

interface Mistake {
  name: string;
  /** The test that catches it: `simulation`, or `test FILE`. */
  catcher: string;
}

const words = process.argv.slice(2);
const mistakes = readMistakes().filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (mistakes.length === 0) {
  console.error(`No mistake has a name with ${words.join(" or ")}\n\n${help.mutations}`);
  process.exit(2);
}
let missed = 0;
for (const mistake of mistakes) {
  const startedAt = performance.now();
  const caught = await inCopy(mistake, (copy) => findIn(copy, mistake));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (caught === null) missed++;
  console.log(
    `${caught === null ? "MISSED" : "caught"}  ${mistake.name.padEnd(32)} ${seconds.padStart(6)} s  ${caught ?? mistake.catcher}`,
  );
}
console.log(`${mistakes.length - missed} of ${mistakes.length} mistakes are caught`);
process.exit(missed === 0 ? 0 : 1);

function readMistakes(): Mistake[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".patch"));
  return names.toSorted().map((name) => {
    const [, catcher = ""] = /^Mistake: .+\nCaught by: (.+)\n/.exec(readFileSync(join(folder, name), "utf8")) ?? [];
    return { name: name.replace(".patch", ""), catcher };
  });
}

async function inCopy<T>({ name }: Mistake, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), "weir-mistake-"));
  try {
    for (const path of copied) cpSync(join(root, path), join(copy, path), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    const applied = Bun.spawnSync(["git", "apply", join(folder, `${name}.patch`)], { cwd: copy, stderr: "inherit" });
    if (applied.exitCode !== 0) throw new Error(`Cannot make the mistake "${name}": its patch does not apply`);
    return await work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @returns the test that caught it; null: none did */
function findIn(copy: string, { catcher }: Mistake): Promise<string | null> {
  const [kind, file = ""] = catcher.split(" ");
  return kind === "test" ? failingTest(copy, file) : failingSeed(copy);
}

async function failingTest(copy: string, file: string): Promise<string | null> {
  const child = Bun.spawn([process.execPath, "test", `./${file}`], { cwd: copy, stdout: "ignore", stderr: "pipe" });
  const output = await new Response(child.stderr).text();
  const [, name = "it ends with an error"] = /^\(fail\) (.+?) \[/m.exec(output) ?? [];
  return (await child.exited) === 0 ? null : `${file}: ${name}`;
}

async function failingSeed(copy: string): Promise<string | null> {
  const words = [join(copy, "test/simulation/run-seeds.ts"), "1", String(seedsMax), "1"];
  const child = spawn(process.execPath, words, { cwd: copy, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [first] = (JSON.parse(line) as Progress).failures;
      if (first) return `simulation: seed ${first.seed}, ${first.text.split("\n")[0]?.slice(0, 160)}`;
    }
    return null;
  } finally {
    child.kill();
    await ended;
  }
}
