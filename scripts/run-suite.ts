/** Runs test files in a process of their own, so that a suite that hangs can be ended. */
import { spawn, type ChildProcess } from "node:child_process";

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export interface SuiteRun {
  name: string;
  files: string[];
  budgetSeconds: number;
  cwd: string;
}

/** A machine may be slower than the one that budgets are made for; a suite that hangs is ended at this multiple. */
const budgetsMax = 3;
/** A test of real processes on a busy machine may fail by the machine: it is tried once more, and its first failure stays shown. */
const retries = 1;
/** For one test; Bun's own 5 s is short for a test of several processes on a busy machine. */
const testMsMax = 30_000;

/** Characters shown of what the tests of a failed suite printed. */
const printedMax = 20_000;

let running: ChildProcess | null = null;

/** Shows progress and failures while it runs; ends with a line of its own. */
export async function runSuite({ name, files, budgetSeconds, cwd }: SuiteRun): Promise<Tally> {
  console.log(`\n${name}: ${files.length} files, budget ${budgetSeconds} s`);
  const startedMs = performance.now();
  const child = spawn(process.execPath, ["test", "--dots", `--timeout=${testMsMax}`, `--retry=${retries}`, ...files], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running = child;
  let stopped = false;
  const limitMs = budgetSeconds * budgetsMax * 1_000;
  const timer = setTimeout(() => {
    stopped = true;
    child.kill("SIGKILL");
  }, limitMs);
  const { code, said, told } = await ended(child);
  clearTimeout(timer);
  running = null;
  const tally = readTally(said);
  const seconds = (performance.now() - startedMs) / 1_000;
  const printed = told.replace(/^bun test v.*\n/, "").trim();
  if (code !== 0 && printed !== "") console.log(`What the tests printed:\n${printed.slice(-printedMax)}`);
  if (stopped) console.log(`${name} did not end within ${limitMs / 1_000} s, ${budgetsMax} times its budget: it was ended`);
  else if (seconds > budgetSeconds) console.log(`${name} took longer than its budget`);
  // A process that dies in the middle, or finds nothing to run, has counted no failure itself.
  if (code !== 0 && tally.failed === 0) tally.failed = 1;
  console.log(`${name}: ${tallyText(tally)} in ${seconds.toFixed(1)} s`);
  return tally;
}

/** Ends what runs, at once. */
export function killRunningSuite(): void {
  running?.kill("SIGKILL");
}

/** The form of the last line of `npm test`. */
export function tallyText({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** From the summary that Bun's test runner ends with; its failures include errors between tests. */
export function readTally(said: string): Tally {
  const summary = said.slice(Math.max(0, said.search(/^ *\d+ pass$(?![\s\S]*^ *\d+ pass$)/m)));
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(summary)?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail"), skipped: count("skip") + count("todo") };
}

function ended(child: ChildProcess): Promise<{ code: number | null; said: string; told: string }> {
  let said = "";
  let told = "";
  child.stdout?.on("data", (data) => (told += String(data)));
  child.stderr?.on("data", (data) => {
    said += String(data);
    process.stderr.write(data);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, said, told }));
  });
}
