/** Why a lock file is not taken: the one thing that reading one throws. The words follow its path: "web/yarn.lock: line 3 …". */
export class LockFileError extends Error {
  override name = "LockFileError";
}
