import { spawn } from "node:child_process";
import { BootstrapError } from "./bootstrap-error.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** Runs the script and resolves to its exit code (128 + number of the signal that ended it). */
export async function runScript({ root, bun, script, scriptArguments }) {
  const child = spawn(bun, [script.file, ...scriptArguments], {
    argv0: "bun",
    cwd: root,
    stdio: "inherit",
    // A group of its own: a terminal's Ctrl-C reaches a service through us alone, hence once, and it ends in an orderly way.
    detached: script.service && process.platform !== "win32",
    env: { ...process.env, ...bunEnvironment(script.service), ...script.env },
  });
  passSignals(child);
  return await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new BootstrapError(`Cannot start Bun: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}

function bunEnvironment(service) {
  return {
    // Bun's allocator gives memory back that was unused for 10 ms, and asks for it again at the next request: a tenth of its CPU.
    MIMALLOC_PURGE_DELAY: "5000",
    // What Ctrl-C does not reach must not outlive us: Bun then ends when its parent has died, however that died.
    ...(service ? { BUN_FEATURE_FLAG_NO_ORPHANS: "1" } : {}),
  };
}
