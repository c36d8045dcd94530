import { spawn } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { BootstrapError } from "./bootstrap-error.mjs";
import { claimInstall } from "./install-claim.mjs";
import { clearDamage, isInstalled, readInstalled, writeRecord } from "./installed.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** Brings node_modules to what package-lock.json says, when it is not there yet. @param packages "production" or "all" */
export async function install(root, packages) {
  const modules = join(root, "node_modules");
  if (!makeWritable(modules)) return;
  if (isInstalled(readInstalled(root), packages)) return;
  const claim = await claimInstall(modules);
  try {
    const installed = readInstalled(root);
    if (isInstalled(installed, packages)) return;
    // Development packages that are there stay: a start must not take them from a test that runs beside it.
    const wanted = installed.hasDevelopmentPackages ? "all" : packages;
    console.error("Installing packages (this may take a minute)");
    clearDamage(installed);
    await runNpm(root, wanted, claim);
    writeRecord({ root, packages: wanted });
  } finally {
    claim.release();
  }
}

/** False where the folder is somebody else's to keep, as in an image that was built by another user: it is used as it is. */
function makeWritable(modules) {
  try {
    mkdirSync(modules, { recursive: true });
    accessSync(modules, constants.W_OK);
    return true;
  } catch (error) {
    if (error.code === "EACCES" || error.code === "EROFS") return false;
    throw error;
  }
}

/**
 * `npm ci` is no choice: it refuses a lock file that was written where a registry lacks other platforms' packages. Scripts of packages do
 * not run: what is installed is what the lock file has a digest of, and nothing that a script fetched.
 */
async function runNpm(root, packages, claim) {
  const kind = packages === "all" ? "--include=dev" : "--omit=dev";
  const options = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", kind];
  // Started by npm, we use that very npm; started by yarn or by hand, the one on PATH.
  const npm = process.env.npm_execpath ?? "";
  const own = basename(npm) === "npm-cli.js";
  const child = spawn(own ? process.execPath : "npm", own ? [npm, ...options] : options, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: !own && process.platform === "win32",
  });
  if (child.pid !== undefined) claim.nameInstaller(child.pid);
  const { code, signal, output } = await ended(child);
  if (signal !== null) throw new BootstrapError("The install was broken off; the next start repairs it", exitCodeOf(signal));
  if (code !== 0) throw new BootstrapError(`${output}\nCannot install packages: npm ended with ${code}; its messages are above`);
}

async function ended(child) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const passing = passSignals(child);
  try {
    const [code, killedBy] = await new Promise((resolve, reject) => {
      child.on("error", (error) => reject(new BootstrapError(`Cannot start npm: ${error.message}`)));
      child.on("close", (...result) => resolve(result));
    });
    return { code, signal: killedBy ?? passing.stop(), output: output.trim() };
  } finally {
    passing.stop();
  }
}
