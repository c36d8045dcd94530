/** `npm test`: the checks, then every suite within its budget. `npm test -- <path…>` runs only those files. */
import { dirname, join } from "node:path";
import { runChecks } from "./checks.ts";
import { killRunningSuite, runSuite, tallyText, type Tally } from "./run-suite.ts";
import { findBrowser } from "./services/find-browser.ts";
import { findServers } from "./services/find-servers.ts";
import { filesOf, suites } from "./suites.ts";

const root = dirname(import.meta.dir);
const chosenBudgetSeconds = 300;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    killRunningSuite();
    console.log("\nStopped");
    process.exit(130);
  });
}

const paths = process.argv.slice(2);
const tally = paths.length > 0 ? await runFiles(paths) : await runAll();
console.log(tallyText(tally));
process.exit(tally.failed === 0 ? 0 : 1);

function runFiles(files: string[]): Promise<Tally> {
  const relative = files.map((file) => (/^[./]/.test(file) ? file : `./${file}`));
  return runSuite({ name: "chosen files", files: relative, budgetSeconds: chosenBudgetSeconds, cwd: root });
}

async function runAll(): Promise<Tally> {
  const total: Tally = { ...runChecks(), skipped: 0 };
  const missing = [await missingServers(), await missingBrowser()].filter((one) => one !== null);
  for (const suite of suites) {
    const files = filesOf(suite, join(root, "test"));
    if (files.length > 0) add(total, await runSuite({ ...suite, files, cwd: root }));
  }
  console.log("");
  for (const { tests, toRun } of missing) {
    console.log(`Not run: ${tests}. To run them, ${toRun}`);
    if (process.env["CI"]) failMissing(total);
  }
  return total;
}

function add(total: Tally, { passed, failed, skipped }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

interface LeftOut {
  tests: string;
  toRun: string;
}

/** null: there are test services. Looked for once before the suites, for fetching them may take longer than a test may. */
async function missingServers(): Promise<LeftOut | null> {
  const { DATABASE_URL, NATS_URL, REDIS_URL } = process.env;
  if (DATABASE_URL && NATS_URL && REDIS_URL) return null;
  const found = await findServers();
  if (!("missing" in found)) return null;
  const names = suites.filter((suite) => suite.usesServers).map((suite) => suite.name);
  return { tests: `the tests of ${names.join(", ")} that need servers`, toRun: found.missing };
}

/** As above. */
async function missingBrowser(): Promise<LeftOut | null> {
  const found = await findBrowser();
  return "missing" in found ? { tests: "the tests in a browser", toRun: found.missing } : null;
}

function failMissing(total: Tally): void {
  console.log("CI is set, where nothing may be left out: this counts as a failure");
  total.failed++;
}
