import { spawn } from "node:child_process";
import { BootstrapError } from "./bootstrap-error.mjs";
import { bunEnvironment, endingWithParent } from "./bun-environment.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** Runs the script and resolves to its exit code (128 + number of the signal that ended it). */
export async function runScript({ root, bun, script, scriptArguments }) {
  const child = spawn(bun, [script.file, ...scriptArguments], {
    argv0: "bun",
    cwd: root,
    stdio: "inherit",
    // A group of its own: a terminal's Ctrl-C reaches a service through us alone, hence once, and it ends in an orderly way.
    detached: script.service && process.platform !== "win32",
    // What Ctrl-C does not reach must not outlive us.
    env: { ...bunEnvironment, ...process.env, ...(script.service ? endingWithParent : {}), ...script.env },
  });
  passSignals(child);
  return await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new BootstrapError(`Cannot start Bun: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}
