/** A server's binary on this machine. */
export interface Program {
  path: string;
  /** LD_LIBRARY_PATH where its libraries were unpacked beside it; null: the system has them. */
  libraries: string | null;
}

/** What a child process gets of our environment, with the program's libraries. */
export function environmentOf(program: Program): NodeJS.ProcessEnv {
  return program.libraries === null ? process.env : { ...process.env, LD_LIBRARY_PATH: program.libraries };
}
