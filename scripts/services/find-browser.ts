/**
 * Looks for Chromium on this machine. Unlike a server, it starts no daemon, so root in a container may install it.
 */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Missing } from "./find-servers.ts";

const run = promisify(execFile);
/** The first is Chromium without windows, toolbars and extensions: opening a page takes a third of the CPU time. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
/** Ubuntu lacks the first package. */
const packages = ["chromium-headless-shell", "chromium"];
const installWords = "install --yes --no-install-recommends";
const commandMsMax = 240_000;

export interface Surroundings {
  /** Folders separated by a delimiter. */
  path: string;
  /** Output of apt; resolves when it has ended, successfully or not. */
  install: (() => Promise<void>) | null;
}

/** @returns its path; the first time on a machine without it, this may take a few minutes */
export async function findBrowser({ path, install }: Surroundings = here()): Promise<{ path: string } | Missing> {
  const found = onPath(path);
  if (found !== null) return { path: found };
  await install?.();
  const installed = onPath(path);
  if (installed !== null) return { path: installed };
  return { missing: `install Chromium (on PATH), on Debian by: apt-get ${installWords} ${packages[0]}` };
}

function here(): Surroundings {
  return { path: process.env["PATH"] ?? "", install: process.getuid?.() === 0 ? installByApt : null };
}

function onPath(path: string): string | null {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Images have no package lists, and lists become outdated. */
async function installByApt(): Promise<void> {
  if (Bun.which("apt-get") === null) return;
  console.error("Installing Chromium by apt-get (once), for tests in a browser");
  const script = `apt-get -q update; ${packages.map((name) => `apt-get -q ${installWords} ${name}`).join(" || ")}`;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("sh", ["-c", script], { env, timeout: commandMsMax, maxBuffer: 1 << 26 }).catch(() => null);
}
