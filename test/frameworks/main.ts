/** `npm run frameworks`: runs unmodified agent frameworks against a model behind each wire format. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runAtEnd } from "../support/processes/at-end.ts";
import { commandsFor, NoEnvironmentError } from "./environments.ts";
import { run } from "./run.ts";
import { openStage, type Stage, type StageModel } from "./stage.ts";

const loopMs = 900_000;
/** Each is a large program, and starts others. */
const agentsAtOnce = 2;
const loops = readdirSync(join(import.meta.dir, "loops"))
  .filter((name) => /\.(py|mjs|go)$/.test(name) && !name.startsWith("scene"))
  .toSorted();

const usage = `npm run frameworks -- [loop] …

  Loops: ${loops.join(", ")}. Without a name all run.
  Each asks for two tools at once, rejects what does not fit its schema and asks again: whole and streamed, at a model behind each
  wire format. Those named after thinking keep a model's thought with its calls, ask again in the same conversation, and read a stream
  that is quiet for 20 s. Those for embeddings and completions use the sandbox, of one process and of a fleet. Packages are installed
  once, in their own environments. Exit code 1: a loop failed.
  A loop without its interpreter or its registry is skipped; with CI set that is exit code 1 too.

Example: npm run frameworks -- ${loops[0]}`;

/** The models of one command are played at once, those of agents a few at once. @returns how many failed. @throws NoEnvironmentError */
async function play(loop: string, stage: Stage): Promise<number> {
  let failed = 0;
  for (const { name, command } of await commandsFor(loop)) {
    const models = modelsFor(loop, stage);
    const atOnce = isAgent(loop) ? agentsAtOnce : models.length;
    for (let next = 0; next < models.length; next += atOnce) {
      const passed = await Promise.all(models.slice(next, next + atOnce).map((model) => playAt(model, name, command)));
      failed += passed.filter((isPassed) => !isPassed).length;
    }
  }
  return failed;
}

async function playAt(
  { name: place, url, key, model, calls, begin }: StageModel,
  loop: string,
  command: string[],
): Promise<boolean> {
  const before = calls();
  const begun = await begin?.();
  const environment = {
    WEIR_URL: url,
    WEIR_KEY: key,
    WEIR_MODEL: model,
    OPENAI_API_KEY: "none",
    PYTHONDONTWRITEBYTECODE: "1",
    // The HTTP client that LlamaIndex needs cannot read a list with addresses of IPv6.
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    ...begun?.environment,
  };
  const started = performance.now();
  const { code, output } = await run(command, { timeoutMs: loopMs, environment });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const difference = (await begun?.settle()) ?? null;
  const passed = code === 0 && difference === null;
  console.log(`${passed ? "ok    " : "FAILED"} ${loop} at ${place}: ${calls() - before} calls, ${seconds} s`);
  if (code !== 0) console.log(output.slice(-3_000));
  if (difference !== null) console.log(`  The log does not agree with the provider: ${difference}`);
  return passed;
}

function isAgent(loop: string): boolean {
  return loop.includes("-agent.");
}

function modelsFor(loop: string, { models, thinkers, sandboxes, coders }: Stage): StageModel[] {
  if (isAgent(loop)) return coders;
  if (loop.includes("-embeddings.")) return sandboxes.map((sandbox) => ({ ...sandbox, model: "sandbox/embed" }));
  if (loop.includes("-completions.")) return sandboxes;
  return loop.includes("-thinking.") ? thinkers : models;
}

async function main(names: string[]): Promise<number> {
  if (names.some((name) => !loops.includes(name))) {
    console.log(usage);
    return names.some((name) => name === "--help" || name === "-h") ? 0 : 2;
  }
  await using stage = await openStage();
  let failed = 0;
  let skipped = 0;
  for (const loop of names.length === 0 ? loops : names) {
    try {
      failed += await play(loop, stage);
    } catch (error) {
      if (!(error instanceof NoEnvironmentError)) throw error;
      skipped++;
      console.log(`SKIPPED ${loop}: ${error.message}`);
    }
  }
  console.log(`${failed} failed, ${skipped} of the loops skipped`);
  return failed > 0 || (skipped > 0 && process.env["CI"]) ? 1 : 0;
}

/** The processes that it started end with it. */
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

process.exitCode = await main(process.argv.slice(2));
await runAtEnd();
process.exit();
