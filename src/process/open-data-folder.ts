/** Prepares the data folder before anything is opened in it, so that a start that cannot work says why in one sentence. */
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "./variables.ts";

/** More than a block, so that a full disk is noticed. */
const probeBytes = 64 * 1024;

/**
 * Creates `dataDir` where it is missing, and writes and removes a file in it.
 * @param bytesMin how many bytes must be free on its disk
 * @throws ConfigError with the folder and what is wrong with it
 */
export function openDataFolder(dataDir: string, bytesMin: number): void {
  const folder = resolve(dataDir);
  const probe = join(folder, `.probe.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(probe, Buffer.alloc(probeBytes), { mode: 0o600 });
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw refused(folder, reasons[String(error.code)] ?? error.message, error);
  }
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < bytesMin) {
    throw refused(folder, `its disk has ${inMiB(bavail * bsize)} free, and ${inMiB(bytesMin)} are needed`);
  }
}

const reasons: Record<string, string> = {
  EEXIST: "it is a file, and a folder is needed",
  ENOTDIR: "a part of its path is a file",
  ENOENT: "a folder of its path is missing and cannot be created",
  EROFS: "its file system is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOSPC: "its disk is full",
  EDQUOT: "this user's quota of its disk is used up",
};

function refused(folder: string, reason: string, cause?: Error): ConfigError {
  return new ConfigError(`Cannot use DATA_DIR "${folder}": ${reason}`, { cause });
}

function inMiB(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`;
}
