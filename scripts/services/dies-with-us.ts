/** On Linux a process can be told when its parent dies, also by kill -9. */
import { spawnSync } from "node:child_process";

let canDieWithUs: boolean | null = null;

/** What to put before a command, so that it gets `signal` when this process is gone; nothing where there is no `setpriv`. */
export function diesWithUs(signal: NodeJS.Signals): string[] {
  canDieWithUs ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return canDieWithUs ? ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"] : [];
}
