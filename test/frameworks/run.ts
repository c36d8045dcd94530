/** Runs a command to its end. */
import { spawn } from "node:child_process";

export interface Ended {
  /** null: the command did not start, or did not end in time. */
  code: number | null;
  output: string;
}

export function run(
  [file = "", ...words]: string[],
  { timeoutMs, environment = {} }: { timeoutMs: number; environment?: Record<string, string> },
): Promise<Ended> {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(file, words, {
      timeout: timeoutMs,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (bytes: Buffer) => (output += bytes.toString()));
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}
