import { spawn } from "node:child_process";
import { BootstrapError } from "./bootstrap-error.mjs";
import { bunEnvironment } from "./bun-environment.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** What Ctrl-C does not reach must not outlive us: Bun then ends when its parent has died, however that died. */
const dyingWithUs = { BUN_FEATURE_FLAG_NO_ORPHANS: "1" };

/** Runs the script and resolves to its exit code (128 + number of the signal that ended it). */
export async function runScript({ root, bun, script, scriptArguments }) {
  const child = spawn(bun, [script.file, ...scriptArguments], {
    argv0: "bun",
    cwd: root,
    stdio: "inherit",
    // A group of its own: a terminal's Ctrl-C reaches a service through us alone, hence once, and it ends in an orderly way.
    detached: script.service && process.platform !== "win32",
    env: { ...bunEnvironment, ...process.env, ...(script.service ? dyingWithUs : {}), ...script.env },
  });
  passSignals(child);
  return await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new BootstrapError(`Cannot start Bun: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}
