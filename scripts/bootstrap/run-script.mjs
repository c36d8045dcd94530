/**
 * Runs a script on Bun, returns its exit code, and forwards each signal once.
 *
 * A terminal's Ctrl-C reaches every process of a group, npm sends it again, and a shell between them may delay it. The script must see it
 * once, and must not outlive this process.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { bunEnvironment, directOnThisMachine, endingWithParent } from "./bun-environment.mjs";

/** Runs the script and resolves to its exit code, which is 128 plus the signal's number if a signal ended it. */
export async function runScript({ root, bun, script, scriptArguments }) {
  const child = spawn(bun, [script.file, ...scriptArguments], {
    argv0: "bun",
    cwd: root,
    stdio: "inherit",
    // Its own process group: Ctrl-C reaches a service only through this process, so only once, and the service shuts down gracefully.
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

/** npm sends a terminal's Ctrl-C a second time. A signal within this time is the same one. */
const sameSignalMs = 500;
const parentLookMs = 250;

/**
 * Forwards each SIGINT and SIGTERM to `child` once. `stop` ends that and returns the last signal, or null.
 *
 * A terminal's Ctrl-C reaches this process directly. A SIGINT to npm's process alone may not: npm sends it to the shell between them, and
 * Debian's dash delays it until its command has ended, which no other process can see. A SIGTERM to npm works, since it ends that shell.
 */
export function passSignals(child) {
  const signals = ["SIGINT", "SIGTERM"];
  let passed = null;
  let passedAt = -Infinity;
  const pass = (signal) => {
    if (performance.now() - passedAt < sameSignalMs) return;
    passed = signal;
    passedAt = performance.now();
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  const stopWatching = onShellDeath(() => pass("SIGTERM"));
  return {
    stop() {
      for (const signal of signals) process.off(signal, pass);
      stopWatching();
      return passed;
    },
  };
}

/** The exit code that a shell gives to a process that a signal ended. */
export function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** npm kills the shell between it and this process, and the shell forwards no signal. This process then has another parent. */
function onShellDeath(callback) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    callback();
  }, parentLookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** An error that the user can act on, printed without a stack. */
export class BootstrapError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.name = "BootstrapError";
    this.exitCode = exitCode;
  }
}
