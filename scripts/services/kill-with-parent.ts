/** On Linux the kernel can signal a process when its parent dies, also by kill -9. */
import { spawnSync } from "node:child_process";

let hasSetpriv: boolean | null = null;

/** The words to put before a command, so that it gets `signal` when this process dies; none where `setpriv` is absent. */
export function killWithParent(signal: NodeJS.Signals): string[] {
  hasSetpriv ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return hasSetpriv ? ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"] : [];
}
