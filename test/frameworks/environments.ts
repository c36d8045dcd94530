/** The environments in which the loops run, each with the packages of one file, made once and kept. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../scripts/services/find-servers.ts";
import { run } from "./run.ts";

const here = import.meta.dir;
const installMs = 1_200_000;

/** There is no environment, for lack of an interpreter or a registry. */
export class NoEnvironmentError extends Error {
  override name = "NoEnvironmentError";
}

interface Command {
  /** The loop, and the version of its package if there are several. */
  name: string;
  command: string[];
}

/** Go's package is tried in an old and a new version. */
const goModules = { old: join(here, "packages/go-old.mod"), new: join(here, "packages/go-new.mod") };

/** @param loop the name of a file of loops/ @returns the commands that run it. @throws NoEnvironmentError */
export async function commandsFor(loop: string): Promise<Command[]> {
  if (loop.endsWith(".mjs")) return [{ name: loop, command: await nodeCommand(loop) }];
  if (loop.endsWith(".py")) return [{ name: loop, command: await pythonCommand(loop) }];
  const commands: Command[] = [];
  for (const [version, module] of Object.entries(goModules)) {
    commands.push({ name: `${loop} (${version})`, command: await goCommand(loop, module) });
  }
  return commands;
}

/** The file of a loop's packages: some need other versions than the others, and the agents' programs are large. */
function packagesOf(loop: string): string {
  const own = ["llama-index", "claude-code", "codex"].find((name) => loop.startsWith(name));
  return own ?? (loop.includes("-agent.") ? "agents" : "loops");
}

async function pythonCommand(loop: string): Promise<string[]> {
  const requirements = join(here, "packages", `${packagesOf(loop)}.txt`);
  const home = await made(["python3", "--version"], requirements, async (folder) => {
    await must(["python3", "-m", "venv", folder]);
    const pip = [join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "--prefer-binary"];
    await must([...pip, "--requirement", requirements]);
  });
  return [join(home, "bin", "python"), join(here, "loops", loop)];
}

/** Node looks for packages next to the importing file, so the loop is copied into the environment. */
async function nodeCommand(loop: string): Promise<string[]> {
  const packages = join(here, "packages", `${packagesOf(loop)}.json`);
  const home = await made(["node", "--version"], packages, async (folder) => {
    await mkdir(folder, { recursive: true });
    await cp(packages, join(folder, "package.json"));
    await must(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund"]);
  });
  for (const file of [loop, "scene.mjs", "scene-agents.mjs"]) await cp(join(here, "loops", file), join(home, file));
  return ["node", join(home, loop)];
}

/** The module's checksums are those of Go's database of checksums, so no file has them. */
async function goCommand(loop: string, module: string): Promise<string[]> {
  const home = await made(["go", "version"], module, async (folder) => {
    await mkdir(folder, { recursive: true });
    await cp(module, join(folder, "go.mod"));
  });
  await cp(join(here, "loops", loop), join(home, "main.go"));
  await must(["go", "build", "-C", home, "-mod=mod", "-o", "loop", "."]);
  return [join(home, "loop")];
}

/** @param interpreter the command that tells its version */
async function made(interpreter: string[], packages: string, make: (folder: string) => Promise<void>): Promise<string> {
  const version = await run(interpreter, { timeoutMs: 10_000 });
  if (version.code !== 0) throw new NoEnvironmentError(`There is no ${interpreter[0] ?? ""} on PATH`);
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
