/** A server's binary on this machine. */
export interface Program {
  path: string;
  /** LD_LIBRARY_PATH if its libraries were unpacked with it; null: the system has them. */
  libraries: string | null;
}

/** The variables that a server needs. Our environment may contain keys, which it must not receive. */
const names = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH"];

/** The environment of a child process, with the program's libraries. */
export function environmentOf(program: Program): NodeJS.ProcessEnv {
  const given = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return program.libraries === null ? given : { ...given, LD_LIBRARY_PATH: program.libraries };
}
