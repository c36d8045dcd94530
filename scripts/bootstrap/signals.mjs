import { constants } from "node:os";

/** npm repeats a terminal's Ctrl-C to us although it reached us already: what follows this soon is the same one. */
const sameSignalMs = 500;
const parentLookMs = 250;

/** Passes each SIGINT and SIGTERM on to `child` once. `stop` ends that and tells which came last, null when none did. */
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

/** What a shell makes of a process that a signal ended. */
export function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/** npm tells the shell between it and us to stop, and that shell dies without telling us: then we have another parent. */
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
