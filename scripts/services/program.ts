/** A server's binary on this machine. */
export interface Program {
  path: string;
  /** LD_LIBRARY_PATH where its libraries were unpacked beside it; null: the system has them. */
  libraries: string | null;
}

/** What a server needs of our environment, which may hold keys that are none of its business. */
const names = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH"];

/** What a child process gets of our environment, with the program's libraries. */
export function environmentOf(program: Program): NodeJS.ProcessEnv {
  const given = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return program.libraries === null ? given : { ...given, LD_LIBRARY_PATH: program.libraries };
}
