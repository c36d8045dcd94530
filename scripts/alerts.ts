/**
 * `npm run alerts`: checks deploy/prometheus/weir-alerts.yaml with promtool, and runs its tests. promtool is the one on PATH, or on Debian and
 * Ubuntu the one of the package prometheus, which is unpacked and not installed.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fetchProgram } from "./services/fetch-program.ts";
import { environmentOf, type Program } from "./services/program.ts";

const folder = join(dirname(import.meta.dir), "deploy/prometheus");

function works(program: Program): boolean {
  return spawnSync(program.path, ["--version"], { env: environmentOf(program) }).status === 0;
}

function run(program: Program, words: string[]): boolean {
  return spawnSync(program.path, words, { cwd: folder, env: environmentOf(program), stdio: "inherit" }).status === 0;
}

const onPath: Program = { path: "promtool", libraries: null };
const promtool = works(onPath) ? onPath : await fetchProgram({ binary: "promtool", works });
if (promtool === null) {
  console.error("Cannot check the alert rules: install promtool, which comes with Prometheus (on PATH)");
  process.exit(2);
}
const areGood =
  run(promtool, ["check", "rules", "weir-alerts.yaml"]) && run(promtool, ["test", "rules", "weir-alerts.test.yaml"]);
process.exit(areGood ? 0 : 1);
