/** The environments in which the loops run, each with the packages of one file, made once and kept. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../scripts/services/fetch-program.ts";
import { run } from "./run.ts";

const here = import.meta.dir;
const installMs = 600_000;

/** There is no environment, for lack of an interpreter or a registry. */
export class NoEnvironmentError extends Error {
  override name = "NoEnvironmentError";
}

/** @param loop the name of a file of loops/ @returns the command that runs it. @throws NoEnvironmentError */
export async function commandFor(loop: string): Promise<string[]> {
  if (loop.endsWith(".mjs")) return nodeCommand(loop);
  // LlamaIndex needs another version of the official package than the others.
  const requirements = join(here, loop.startsWith("llama-index") ? "requirements-llama-index.txt" : "requirements.txt");
  const home = await made("python3", requirements, async (folder) => {
    await must(["python3", "-m", "venv", folder]);
    const pip = [join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "--prefer-binary"];
    await must([...pip, "--requirement", requirements]);
  });
  return [join(home, "bin", "python"), join(here, "loops", loop)];
}

/** Node looks for packages next to the importing file, so the loop is copied into the environment. */
async function nodeCommand(loop: string): Promise<string[]> {
  const packages = join(here, "node-packages.json");
  const home = await made("node", packages, async (folder) => {
    await mkdir(folder, { recursive: true });
    await cp(packages, join(folder, "package.json"));
    await must(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund"]);
  });
  for (const file of [loop, "scene.mjs"]) await cp(join(here, "loops", file), join(home, file));
  return ["node", join(home, loop)];
}

async function made(interpreter: string, packages: string, make: (folder: string) => Promise<void>): Promise<string> {
  const version = await run([interpreter, "--version"], { timeoutMs: 10_000 });
  if (version.code !== 0) throw new NoEnvironmentError(`There is no ${interpreter} on PATH`);
  const digest = createHash("sha256")
    .update(version.output)
    .update(await readFile(packages));
  const home = join(cacheFolder(), "frameworks", digest.digest("hex").slice(0, 16));
  // Written last: without this file an environment is incomplete.
  const whole = join(home, "whole");
  if (existsSync(whole)) return home;
  await rm(home, { recursive: true, force: true });
  await mkdir(join(home, ".."), { recursive: true });
  await make(home);
  await mkdir(whole);
  return home;
}

async function must(command: string[]): Promise<void> {
  const { code, output } = await run(command, { timeoutMs: installMs });
  if (code !== 0) throw new NoEnvironmentError(`${command.slice(0, 4).join(" ")} gave ${code}: ${output.slice(-600)}`);
}
