/** Checks of the code that take seconds: `npm run ok`, and the first part of `npm test`. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dir);

interface Check {
  name: string;
  command: string[];
  /** A command that repairs what the check reports, if there is one. */
  remedy?: string;
}

const bun = process.execPath;

function checks(): Check[] {
  const codeFolders = ["src", "workers", "scripts", "bench", "test"].filter(holdsFiles);
  const rootFiles = readdirSync(root).filter((name) => /\.(json|md)$/.test(name));
  const remedy = "node_modules/.bin/bun fmt <file>";
  return [
    { name: "format", command: [bun, "fmt", "--check", ...codeFolders, ...["docs"].filter(holdsFiles), ...rootFiles], remedy },
    { name: "lint", command: [bun, "node_modules/oxlint/bin/oxlint", ...codeFolders] },
    { name: "types", command: [bun, "check"] },
    { name: "architecture", command: [bun, "test", "--only-failures", "./test/architecture.test.ts"] },
    { name: "expressions", command: [bun, "scripts/expressions.ts"] },
    { name: "dead code", command: [bun, "node_modules/knip/bin/knip.js", "--no-config-hints"] },
  ];
}

/** Some of the tools fail on a missing or empty folder. */
function holdsFiles(folder: string): boolean {
  return existsSync(join(root, folder)) && readdirSync(join(root, folder)).length > 0;
}

/** Runs all checks and prints a line for each, and the output of those that fail. Returns how many passed and failed. */
export function runChecks(): { passed: number; failed: number } {
  const tally = { passed: 0, failed: 0 };
  for (const { name, command, remedy } of checks()) {
    const startedMs = performance.now();
    const [program = bun, ...rest] = command;
    const { status, stdout, stderr } = spawnSync(program, rest, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 });
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    console.log(`${status === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
    if (status === 0) tally.passed++;
    else {
      tally.failed++;
      console.log(`${stdout}${stderr}${remedy ? `\nTo repair: ${remedy}` : ""}\n`);
    }
  }
  return tally;
}
