/** Runs the tools that read the files of `deploy/`. A tool that is missing skips its check, and the output names it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";

export const root = dirname(dirname(import.meta.dir));

/** This machine has none of the tools that a check needs. */
export class ToolMissingError extends Error {
  override name = "ToolMissingError";
}

/** @returns the first of these programs that is on PATH @throws ToolMissingError */
export function toolOf(...names: string[]): string {
  const found = names.find((name) => Bun.which(name) !== null);
  if (found !== undefined) return found;
  throw new ToolMissingError(`needs ${names.join(" or ")}`);
}

interface RunOptions {
  /** Further variables. */
  environment?: NodeJS.ProcessEnv;
  /** Default: the project's. */
  folder?: string;
}

/** @returns what the command printed on both streams @throws Error with that output unless the command exits with 0 */
export async function run(command: readonly string[], { environment = {}, folder = root }: RunOptions = {}): Promise<string> {
  const [program = "", ...words] = command;
  const child = spawn(program, words, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, reported] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const output = `${printed}${reported}`.trim();
  if (child.exitCode === 0) return output;
  throw new Error(`"${command.join(" ")}" ended with ${child.exitCode ?? child.signalCode}:\n${output}`);
}
