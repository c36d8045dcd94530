/**
 * `npm test`: runs every suite within its budget, and the checks at the same time. `npm test -- <path…>` runs only those files.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { quickChecks, runChecks, slowChecks } from "./checks.ts";
import { openMemoryFolder } from "./memory-folder.ts";
import { compilesLess, killRunningSuites, runSuite, tallyText, type Tally } from "./run-suite.ts";
import { findBrowser } from "./services/find-browser.ts";
import { findServers } from "./services/find-servers.ts";
import { templateVariable } from "./services/postgres.ts";
import { killWithParent } from "./services/program.ts";
import { SuiteServers } from "./services/suite-servers.ts";
import { filesOf, lanesMax, runInLanes, suites, type Suite } from "./suites.ts";

const root = dirname(import.meta.dir);
const chosenBudgetSeconds = 300;
const { DATABASE_URL, NATS_URL, REDIS_URL } = process.env;
/**
 * Servers from the environment. All suites share them, so suites run one after another: the fleets of two suites would disturb each other.
 */
const sharesServers = Boolean(DATABASE_URL && NATS_URL && REDIS_URL);
let servers: SuiteServers | null = null;
let stopping = false;
/** A TMPDIR that was set stays. */
const memory = process.env["TMPDIR"] ? null : openMemoryFolder();
if (memory !== null) process.env["TMPDIR"] = memory.path;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());

async function stop(): Promise<never> {
  stopping = true;
  killRunningSuites();
  await servers?.[Symbol.asyncDispose]();
  memory?.[Symbol.dispose]();
  console.log("\nStopped");
  process.exit(130);
}

const paths = process.argv.slice(2);
/** `suite: test` of each test that failed, printed near the end, where it is easy to find. */
const failures: string[] = [];
const tally = paths.length > 0 ? await runFiles(paths) : await runAll();
memory?.[Symbol.dispose]();
console.log(tallyText(tally));
process.exit(tally.failed === 0 ? 0 : 1);

function runFiles(files: string[]): Promise<Tally> {
  const relative = files.map((file) => (/^[./]/.test(file) ? file : `./${file}`));
  const name = "chosen files";
  const run = { budgetSeconds: chosenBudgetSeconds, retries: 0, isPatient: false, showsProgress: true };
  return runSuite({ ...run, name, files: relative, cwd: root });
}

async function runAll(): Promise<Tally> {
  const total: Tally = { passed: 0, failed: 0, skipped: 0 };
  // They take a core for many seconds, so they run in the CPU time that the timed suites leave.
  const checked = runChecks([...quickChecks(), ...slowChecks()], { isPatient: true });
  const prepared = prepareDatabase();
  const missing = [await openServers(), await missingBrowser()].filter((one) => one !== null);
  await prepared;
  await runInLanes(suites, sharesServers ? 1 : lanesMax, (suite) => runOne(suite, total));
  add(total, await checked);
  await servers?.[Symbol.asyncDispose]();
  console.log("");
  for (const failure of failures) console.log(`FAILED ${failure}`);
  for (const { tests, toRun } of missing) {
    console.log(`Not run: ${tests}. To run them, ${toRun}`);
    if (process.env["CI"]) failMissing(total);
  }
  return total;
}

async function runOne(suite: Suite, total: Tally): Promise<void> {
  const files = filesOf(suite, join(root, "test"));
  if (stopping || files.length === 0) return;
  await using own = suite.usesServers ? await servers?.forSuite(suite) : undefined;
  const environment = { ...own?.urls, ...(servers && { [templateVariable]: servers.template }) };
  const run = { ...suite, files, cwd: root, environment, isPatient: !suite.isTimed, showsProgress: sharesServers };
  const result = await runSuite(run);
  add(total, result);
  failures.push(...result.failures.map((test) => `${suite.name}: ${test}`));
}

function add(total: Tally, { passed, failed, skipped }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

/** In a fresh clone the first suites would each make the embedded database that tests copy. A suite says why if it cannot be made. */
async function prepareDatabase(): Promise<void> {
  const command = [process.execPath, "test/support/processes/preparing-process.ts"];
  const [program = "", ...words] = [...killWithParent("SIGKILL"), ...command];
  await once(spawn(program, words, { cwd: root, env: { ...compilesLess, ...process.env }, stdio: "ignore" }), "exit");
}

interface LeftOut {
  tests: string;
  toRun: string;
}

/** Starts the servers before the suites, since downloading them may take longer than a test may. null: there are servers. */
async function openServers(): Promise<LeftOut | null> {
  if (sharesServers) return null;
  const found = await findServers();
  if ("missing" in found) {
    const names = suites.filter((suite) => suite.usesServers).map((suite) => suite.name);
    return { tests: `the tests of ${names.join(", ")} that need servers`, toRun: found.missing };
  }
  servers = await SuiteServers.start(found);
  return null;
}

/** Like `openServers`. */
async function missingBrowser(): Promise<LeftOut | null> {
  const found = await findBrowser();
  return "missing" in found ? { tests: "the tests in a browser", toRun: found.missing } : null;
}

function failMissing(total: Tally): void {
  console.log("CI is set, where nothing may be left out: this counts as a failure");
  total.failed++;
}
