/**
 * A folder in memory for a run's temporary files. A copy of the embedded database has 800 files: to create them costs 0.6 s of CPU time
 * on a disk and 0.04 s here, and every test server makes such files too. It is used only where there is room for a whole run, and where
 * programs may be started, since tests write some. A run that was killed leaves its folder: the next one removes it.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const bytesMin = 8 * 1024 ** 3;

export interface MemoryFolder extends Disposable {
  path: string;
}

/** null: this machine has none that is fit. @param home a file system in memory @param room bytes that must be free */
export function openMemoryFolder(home = "/dev/shm", room = bytesMin): MemoryFolder | null {
  if (!existsSync(home) || freeBytes(home) < room || freemem() < room) return null;
  for (const name of readdirSync(home)) {
    const [, pid] = /^weir-test-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(home, name));
  }
  const path = mkdtempSync(join(home, `weir-test-${process.pid}-`));
  chmodSync(path, 0o711); // PostgreSQL may run as another user.
  const folder = { path, [Symbol.dispose]: () => remove(path) };
  if (startsPrograms(path)) return folder;
  folder[Symbol.dispose]();
  return null;
}

/** A test of a full disk that was killed leaves its file system mounted. */
function remove(folder: string): void {
  for (const path of mountsBelow(folder)) spawnSync("umount", [path]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function mountsBelow(folder: string): string[] {
  const table = "/proc/self/mounts";
  const lines = existsSync(table) ? readFileSync(table, "utf8").split("\n") : [];
  return lines.map((line) => line.split(" ")[1] ?? "").filter((path) => path.startsWith(`${folder}/`));
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function startsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
