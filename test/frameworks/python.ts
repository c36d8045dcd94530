/** Python environments with the packages of a requirements file, made once and kept. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../scripts/services/fetch-program.ts";
import { run } from "./run.ts";

const installMs = 600_000;

/** Why there is no environment: no Python, or no registry. */
export class NoPythonError extends Error {
  override name = "NoPythonError";
}

/** @returns the environment's python. @throws NoPythonError */
export async function pythonWith(requirements: string): Promise<string> {
  const version = await run(["python3", "--version"], { timeoutMs: 10_000 });
  if (version.code !== 0) throw new NoPythonError("There is no python3 on PATH");
  const wanted = await readFile(requirements, "utf8");
  const digest = createHash("sha256").update(version.output).update(wanted).digest("hex").slice(0, 16);
  const home = join(cacheFolder(), "frameworks", digest);
  const python = join(home, "bin", "python");
  if (existsSync(join(home, "whole"))) return python;
  await rm(home, { recursive: true, force: true });
  await mkdir(join(home, ".."), { recursive: true });
  await must(["python3", "-m", "venv", home]);
  await must([python, "-m", "pip", "install", "--quiet", "--prefer-binary", "--requirement", requirements]);
  // Made last: an environment without it was not finished.
  await mkdir(join(home, "whole"));
  return python;
}

async function must(command: string[]): Promise<void> {
  const { code, output } = await run(command, { timeoutMs: installMs });
  if (code !== 0) throw new NoPythonError(`${command.slice(0, 4).join(" ")} gave ${code}: ${output.slice(-600)}`);
}
