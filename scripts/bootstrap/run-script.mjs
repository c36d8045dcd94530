import { spawn } from "node:child_process";
import { BootstrapError } from "./bootstrap-error.mjs";
import { bunEnvironment, directOnThisMachine, endingWithParent } from "./bun-environment.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** Runs the script and resolves to its exit code, which is 128 plus the signal's number where a signal ended it. */
export async function runScript({ root, bun, script, scriptArguments }) {
  const child = spawn(bun, [script.file, ...scriptArguments], {
    argv0: "bun",
    cwd: root,
    stdio: "inherit",
    // Its own process group: Ctrl-C reaches a service only through this process, hence once, and the service ends in order.
    detached: script.service && process.platform !== "win32",
    // A process that Ctrl-C does not reach must not outlive this one.
    env: {
      ...bunEnvironment,
      ...process.env,
      ...directOnThisMachine(process.env),
      ...(script.service ? endingWithParent : {}),
      ...script.env,
    },
  });
  passSignals(child);
  return await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new BootstrapError(`Cannot start Bun: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
  });
}
