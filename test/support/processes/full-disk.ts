/** A full disk: the kernel refuses writes beyond a size, after writing as much as fits. */
import { spawnSync } from "node:child_process";

function limitFileSize(limit: string): boolean {
  return spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${limit}:`]).status === 0;
}

/** false: this machine has no `prlimit`. */
export const canFillDisk = limitFileSize("unlimited");

/** While `work` runs, no file of this process grows beyond `bytes`. It must be synchronous, since others write files too. */
export function withDiskFullAt(bytes: number, work: () => void): void {
  limitFileSize(String(bytes));
  try {
    work();
  } finally {
    limitFileSize("unlimited");
  }
}
