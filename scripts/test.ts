/** `npm test`: the checks, then every suite within its budget. `npm test -- <path…>` runs only those files. */
import { dirname, join } from "node:path";
import { runChecks } from "./checks.ts";
import { killRunningSuite, runSuite, tallyText, type Tally } from "./run-suite.ts";
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
  const missing = await missingServers();
  for (const suite of suites) {
    const files = filesOf(suite, join(root, "test"));
    if (files.length > 0) add(total, await runSuite({ ...suite, files, cwd: root }));
  }
  console.log("");
  if (missing !== null) reportMissing(total, missing);
  return total;
}

function add(total: Tally, { passed, failed, skipped }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

/** null: there are test services. Looked for once before the suites, for fetching them may take longer than a test may. */
async function missingServers(): Promise<string | null> {
  const { DATABASE_URL, NATS_URL, REDIS_URL } = process.env;
  if (DATABASE_URL && NATS_URL && REDIS_URL) return null;
  const found = await findServers();
  return "missing" in found ? found.missing : null;
}

function reportMissing(total: Tally, missing: string): void {
  const names = suites.filter((suite) => suite.usesServers).map((suite) => suite.name);
  console.log(`Not run: the tests of ${names.join(", ")} that need servers. To run them, ${missing}`);
  if (!process.env["CI"]) return;
  console.log("CI is set, where nothing may be left out: this counts as a failure");
  total.failed++;
}
