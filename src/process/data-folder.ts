/**
 * Prepares the data folder before anything is opened in it, so that a failing start says why in one sentence: the folder is missing,
 * closed, read-only or full. From then on only this process's user can access the files that it creates, even if the folder is open to all,
 * as a volume often is.
 */
import { mkdirSync, rmSync, statfsSync, writeFileSync, chmodSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "./environment/variables.ts";

/** More than a block, so that a full disk is detected. */
const probeBytes = 64 * 1024;

/**
 * Creates `dataDir` if it is missing, and writes and removes a file in it.
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

/** The service's folders in the data folder; the servers of a fleet may have others, which other users may own. */
const ownFolder = /^(postgres|spool|attachments|gateway-\d+)$/;

/** Restricts what this process creates from now on, and the service's existing folders. */
export function restrictPermissions(dataDir: string): void {
  process.umask(0o077);
  for (const name of namesIn(dataDir)) if (ownFolder.test(name)) close(join(dataDir, name));
}

function refused(folder: string, reason: string, cause?: Error): ConfigError {
  return new ConfigError(`Cannot use DATA_DIR "${folder}": ${reason}`, { cause });
}

function inMiB(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

/** None for a folder that is missing, is a file or is closed to this user; the code that opens it reports that. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function close(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // A file system without permissions, or another user's folder; opening it reports any error.
  }
}
