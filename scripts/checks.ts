/**
 * Checks of the code that take seconds: `npm run ok` runs them, and `npm test` at the same time as its suites.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { bePatient } from "./be-patient.ts";
import type { Tally } from "./run-suite.ts";
import { killWithParent } from "./services/program.ts";

const root = dirname(import.meta.dir);

export interface Check {
  name: string;
  command: string[];
  /** A command that repairs what the check reports, if there is one. */
  remedy?: string;
}

const bun = process.execPath;

/** Those that take a few seconds each. */
export function quickChecks(): Check[] {
  const codeFolders = ["src", "workers", "scripts", "bench", "test"];
  const rootFiles = readdirSync(root).filter((name) => /\.(json|md)$/.test(name));
  const remedy = "node_modules/.bin/bun fmt <file>";
  return [
    { name: "format", command: [bun, "fmt", "--check", ...codeFolders, "docs", ...rootFiles], remedy },
    { name: "lint", command: [bun, "node_modules/oxlint/bin/oxlint", ...codeFolders] },
    { name: "types", command: [bun, "check"] },
    { name: "architecture", command: [bun, "test", "--only-failures", "./test/architecture.test.ts"] },
    { name: "catalog", command: [bun, "scripts/weir.ts", "catalog", "check"] },
    { name: "dead code", command: [bun, "node_modules/knip/bin/knip.js", "--no-config-hints"] },
  ];
}

export function slowChecks(): Check[] {
  return [{ name: "expressions", command: [bun, "scripts/expressions.ts"] }];
}

/**
 * Runs the checks one after another, and prints a line for each, and the output of those that fail.
 * @param isPatient whether they leave the CPU to other processes
 */
export async function runChecks(checks: readonly Check[], { isPatient = false } = {}): Promise<Tally> {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, command, remedy } of checks) {
    const startedMs = performance.now();
    const { status, output } = await outcomeOf(command, isPatient);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    console.log(`${status === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
    if (status === 0) tally.passed++;
    else {
      tally.failed++;
      console.log(`${output}${remedy ? `\nTo repair: ${remedy}` : ""}\n`);
    }
  }
  return tally;
}

/** null: a signal ended it. */
async function outcomeOf(command: readonly string[], isPatient: boolean): Promise<{ status: number | null; output: string }> {
  const [program = bun, ...words] = [...killWithParent("SIGKILL"), ...command];
  const child = spawn(program, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  if (isPatient) bePatient(child);
  const [printed, reported] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: child.exitCode, output: printed + reported };
}
