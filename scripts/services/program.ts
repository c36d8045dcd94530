/**
 * A server's binary on this machine, and how it is started: with its libraries and few variables, so that it ends with its parent.
 */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** A server's binary on this machine. */
export interface Program {
  /** Absolute, with links unresolved: a program may act by the name it is called under. */
  path: string;
  /** LD_LIBRARY_PATH if its libraries were unpacked with it; null: the system has them. */
  libraries: string | null;
}

/** Another program of the same package, next to `program` or, if that is a link without such a neighbour, next to the link's target. */
export function neighbour({ path, libraries }: Program, binary: string): Program {
  const beside = join(dirname(path), binary);
  return { path: existsSync(beside) ? beside : join(dirname(realpathSync(path)), binary), libraries };
}

/** The variables that a server needs. This process's environment may contain keys, which the server must not get. */
const names = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH"];

/** The environment of a child process, with the program's libraries. */
export function environmentOf(program: Program): NodeJS.ProcessEnv {
  const given = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return program.libraries === null ? given : { ...given, LD_LIBRARY_PATH: program.libraries };
}

let hasSetpriv: boolean | null = null;

/** The prefix of a command to which Linux sends `signal` when this process dies, even by kill -9; empty if `setpriv` is missing. */
export function killWithParent(signal: NodeJS.Signals): string[] {
  hasSetpriv ??= spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
  return hasSetpriv ? ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"] : [];
}
