/** Why a lock file is refused: the only error of reading one. The message follows its path: "web/yarn.lock: line 3 …". */
export class LockFileError extends Error {
  override name = "LockFileError";
}
