import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const claimPrefix = ".installing-";
/** A claim older than this belongs to a process id that another process has now. */
const claimAgeMsMax = 15 * 60_000;

/**
 * Allows one install of a folder at a time. Each process writes a claim file of its own name and then looks for others. A process that
 * finds the claim of a living one withdraws its own and tries again. So removing a dead claim cannot remove a living one.
 */
export async function claimInstall(modules) {
  const path = join(modules, `${claimPrefix}${process.pid}`);
  for (let hasReported = false; ;) {
    writeFileSync(path, "");
    const other = otherClaim(modules);
    if (other === null) break;
    rmSync(path, { force: true });
    if (!hasReported) console.error(`Waiting for process ${other}, which is installing packages in this folder`);
    hasReported = true;
    await sleep(100 + Math.random() * 300);
  }
  return {
    /** npm continues when this process is killed, so the claim holds as long as npm lives. */
    nameInstaller: (pid) => writeFileSync(path, String(pid)),
    release: () => rmSync(path, { force: true }),
  };
}

function otherClaim(modules) {
  for (const name of readdirSync(modules)) {
    const pid = name.startsWith(claimPrefix) ? Number(name.slice(claimPrefix.length)) : process.pid;
    if (pid === process.pid) continue;
    if (isLiving(join(modules, name), pid)) return pid;
    rmSync(join(modules, name), { force: true });
  }
  return null;
}

function isLiving(path, pid) {
  try {
    if (Date.now() - statSync(path).mtimeMs > claimAgeMsMax) return false;
    return isAlive(pid) || isAlive(Number(readFileSync(path, "utf8")));
  } catch {
    return false; // withdrawn meanwhile
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
