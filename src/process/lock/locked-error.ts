import { lockSilenceMsMax } from "../limits.ts";
import type { Owner } from "./owner.ts";

/** The folder has a living owner. */
export class LockedError extends Error {
  override name = "LockedError";
  readonly folder: string;
  readonly pid: number;

  /** @param elsewhere whether the owner's id is one of another container or machine */
  constructor(folder: string, { pid }: Pick<Owner, "pid">, elsewhere = false) {
    const owner = elsewhere
      ? `process ${pid} of another container or machine, which showed within the last ${lockSilenceMsMax / 1_000} s that it runs`
      : `process ${pid}, which is running`;
    super(`The data folder "${folder}" belongs to ${owner}: stop it or set another DATA_DIR`);
    this.folder = folder;
    this.pid = pid;
  }
}
