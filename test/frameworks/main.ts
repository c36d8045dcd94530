/** `npm run frameworks`: what people build agents with, unchanged, against a model behind each wire format. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runAtEnd } from "../support/at-end.ts";
import { NoPythonError, pythonWith } from "./python.ts";
import { run } from "./run.ts";
import { openStage, type Stage } from "./stage.ts";

const usage = `npm run frameworks -- [loop] …

  Loops: ${loops().join(", ")}. Without a name all run.
  Each asks for two tools at once, rejects what does not fit its schema and asks again: whole and streamed, at a model behind each
  wire format. Python packages are installed once, in an environment of their own. Exit code 1: a loop did not pass.
  Without python3 or its registry nothing runs; with CI set that is exit code 1 too.`;

const here = import.meta.dir;
const loopMs = 120_000;

function loops(): string[] {
  const files = readdirSync(join(import.meta.dir, "loops"));
  return files.filter((name) => name.endsWith(".py") && name !== "common.py").map((name) => name.slice(0, -3));
}

/** LlamaIndex wants another version of the official package than the others. */
function requirementsOf(loop: string): string {
  return join(here, loop.startsWith("llama_index") ? "requirements-llama-index.txt" : "requirements.txt");
}

async function play(loop: string, { url, key, models }: Stage): Promise<number> {
  const python = await pythonWith(requirementsOf(loop));
  let failed = 0;
  for (const { format, model, stub } of models) {
    const before = stub.calls.length;
    const environment = { WEIR_URL: url, WEIR_KEY: key, WEIR_MODEL: model, OPENAI_API_KEY: "none", PYTHONDONTWRITEBYTECODE: "1" };
    const started = performance.now();
    const { code, output } = await run([python, join(here, "loops", `${loop}.py`)], { timeoutMs: loopMs, environment });
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${loop} at ${format}: ${stub.calls.length - before} calls, ${seconds} s`);
    if (code === 0) continue;
    failed++;
    console.log(output.slice(-3_000));
  }
  return failed;
}

async function main(names: string[]): Promise<number> {
  if (names.some((name) => !loops().includes(name))) {
    console.log(usage);
    return names.includes("--help") ? 0 : 2;
  }
  await using stage = await openStage();
  let failed = 0;
  try {
    for (const loop of names.length === 0 ? loops() : names) failed += await play(loop, stage);
  } catch (error) {
    if (!(error instanceof NoPythonError)) throw error;
    console.log(`SKIPPED: no loop could be run. ${error.message}`);
    return process.env["CI"] ? 1 : 0;
  }
  console.log(failed === 0 ? "Every loop passed in every format" : `${failed} loops did not pass`);
  return failed === 0 ? 0 : 1;
}

/** What it started ends with it. */
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

process.exitCode = await main(process.argv.slice(2));
await runAtEnd();
process.exit();
