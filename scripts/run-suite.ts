/** Runs test files in a separate process, so that a suite that hangs can be killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { bePatient, stayPatient } from "./be-patient.ts";
import { killWithParent } from "./services/program.ts";

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export interface SuiteResult extends Tally {
  /** The names of the tests that failed. */
  failures: string[];
}

export interface SuiteRun {
  name: string;
  files: string[];
  budgetSeconds: number;
  /** How often a failed test runs again; its first failure stays shown. */
  retries: number;
  cwd: string;
  /** Added to the environment, such as the URLs of servers. */
  environment?: Record<string, string>;
  /** Whether it leaves the CPU to suites that are not patient. */
  isPatient: boolean;
  /** false: prints the whole output when the suite has ended, because other suites run at the same time. */
  showsProgress: boolean;
}

/** A machine may be slower than the one that the budgets assume; a suite that hangs is killed at this multiple of its budget. */
const budgetsMax = 4;
/** Timeout of one test; Bun's default of 5 s is short for a test of several processes on a busy machine. */
const testMsMax = 30_000;

/** A suite ends before compiling the embedded database's code, and its own, at the highest level pays off. */
const compilesLess = { BUN_JSC_useOMGJIT: "0", BUN_JSC_useFTLJIT: "0" };

/** How many characters of a failed suite's output are printed. */
const printedMax = 20_000;

const running = new Set<ChildProcess>();

/** Shows failures, and ends with a line that counts the tests. */
export async function runSuite(run: SuiteRun): Promise<SuiteResult> {
  const { name, files, budgetSeconds, showsProgress } = run;
  console.log(`\n${name}: ${files.length} files, budget ${budgetSeconds} s`);
  const startedMs = performance.now();
  const limitMs = budgetSeconds * budgetsMax * 1_000;
  const { code, reported, printed, timedOut } = await ended(start(run), { limitMs, showsProgress });
  const seconds = (performance.now() - startedMs) / 1_000;
  const tally = readTally(reported);
  // A process that crashes, or finds nothing to run, has not counted a failure.
  if (code !== 0 && tally.failed === 0) tally.failed = 1;
  if (!showsProgress) process.stderr.write(`\n${name}:\n${reported}`);
  const shown = printed.replace(/^bun test v.*\n/, "").trim();
  if (code !== 0 && shown !== "") console.log(`What the tests printed:\n${shown.slice(-printedMax)}`);
  if (timedOut) console.log(`${name} did not end within ${limitMs / 1_000} s, ${budgetsMax} times its budget: it was killed`);
  else if (seconds > budgetSeconds) console.log(`${name} took longer than its budget`);
  console.log(`${name}: ${tallyText(tally)} in ${seconds.toFixed(1)} s`);
  return { ...tally, failures: tally.failed === 0 ? [] : failedTests(reported) };
}

/** Kills every suite, with the processes that its tests started. */
export function killRunningSuites(): void {
  for (const child of running) kill(child);
}

/** The last line of `npm test`. */
export function tallyText({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** Reads the summary of Bun's test runner; its failures include errors between tests. */
export function readTally(reported: string): Tally {
  const summary = reported.slice(Math.max(0, reported.search(/^ *\d+ pass$(?![\s\S]*^ *\d+ pass$)/m)));
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(summary)?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail"), skipped: count("skip") + count("todo") };
}

/** Reads the names of the tests that Bun's test runner reports as failed, each once, without the time that it took. */
export function failedTests(reported: string): string[] {
  const names = [...reported.matchAll(/^\(fail\) (.*)$/gm)].map(([, line = ""]) => line.replace(/ \[[\d.]+ ?m?s\]$/, ""));
  return [...new Set(names)];
}

function start({ files, retries, cwd, environment, isPatient }: SuiteRun): ChildProcess {
  const command = [process.execPath, "test", "--dots", `--timeout=${testMsMax}`, `--retry=${retries}`, ...files];
  const [program = "", ...words] = [...(isPatient ? stayPatient() : []), ...killWithParent("SIGKILL"), ...command];
  // Leads a process group, so that a signal reaches the processes that tests start.
  const child = spawn(program, words, {
    cwd,
    env: { ...compilesLess, ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  if (isPatient) bePatient(child);
  return child;
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface Ended {
  code: number | null;
  /** What Bun's test runner wrote. */
  reported: string;
  /** What the tests wrote. */
  printed: string;
  timedOut: boolean;
}

function ended(child: ChildProcess, { limitMs, showsProgress }: { limitMs: number; showsProgress: boolean }): Promise<Ended> {
  const end = { reported: "", printed: "", timedOut: false };
  running.add(child);
  const timer = setTimeout(() => {
    end.timedOut = true;
    kill(child);
  }, limitMs);
  child.stdout?.on("data", (data) => (end.printed += String(data)));
  child.stderr?.on("data", (data) => {
    end.reported += String(data);
    if (showsProgress) process.stderr.write(data);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => {
      running.delete(child);
      clearTimeout(timer);
    });
    child.on("close", (code) => resolve({ ...end, code }));
  });
}
