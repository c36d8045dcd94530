/** On Linux the kernel can signal a process when its parent dies, even by kill -9. */
import { spawnSync } from "node:child_process";

let hasSetpriv: boolean | null = null;

/** The words before a command that make it receive `signal` when this process dies; none if `setpriv` is missing. */
export function killWithParent(signal: NodeJS.Signals): string[] {
  hasSetpriv ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return hasSetpriv ? ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"] : [];
}
