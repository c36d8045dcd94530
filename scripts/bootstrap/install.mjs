import { spawn } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { BootstrapError } from "./bootstrap-error.mjs";
import { claimInstall } from "./install-claim.mjs";
import { clearDamage, isInstalled, readInstalled, writeRecord } from "./installed.mjs";
import { exitCodeOf, passSignals } from "./signals.mjs";

/** Installs the packages of package-lock.json that are not installed yet. @param packages "production" or "all" */
export async function install(root, packages) {
  const modules = join(root, "node_modules");
  if (!makeWritable(modules)) return;
  if (isInstalled(readInstalled(root), packages)) return;
  const claim = await claimInstall(modules);
  try {
    const installed = readInstalled(root);
    if (isInstalled(installed, packages)) return;
    // Installed development packages stay: a start must not remove them under a running test.
    const wanted = installed.hasDevelopmentPackages ? "all" : packages;
    console.error("Installing packages (this may take a minute)");
    clearDamage(installed);
    await runNpm(root, wanted, claim);
    writeRecord({ root, packages: wanted });
  } finally {
    claim.release();
  }
}

/** Returns false where this user cannot write, as in an image that another user built. The folder is then used as it is. */
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
 * Not `npm ci`: it refuses a lock file that was written where a registry lacks the packages of other platforms. Scripts of packages do
 * not run, so that every installed file has a digest in the lock file.
 */
async function runNpm(root, packages, claim) {
  const kind = packages === "all" ? "--include=dev" : "--omit=dev";
  const options = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", kind];
  // A process that npm started uses the same npm; one that yarn or a person started uses the npm on PATH.
  const npm = process.env.npm_execpath ?? "";
  const own = basename(npm) === "npm-cli.js";
  const child = spawn(own ? process.execPath : "npm", own ? [npm, ...options] : options, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: !own && process.platform === "win32",
  });
  if (child.pid !== undefined) claim.nameInstaller(child.pid);
  const { code, signal, output } = await ended(child);
  if (signal !== null) throw new BootstrapError("The install was interrupted; the next start repairs it", exitCodeOf(signal));
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
