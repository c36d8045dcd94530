/**
 * Installs the packages of package-lock.json into node_modules if they are missing, damaged or from another lock file.
 *
 * `npm install` alone repairs neither a truncated file nor what a killed install left, since it compares versions. So a record of each
 * package's files and bytes is kept (`node_modules/.installed`), compared at each start, and damaged packages are removed first. One
 * process installs at a time: each writes a claim file, and waits for the claims of other live processes. Scripts of packages never run.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  lstatSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BootstrapError, exitCodeOf, passSignals } from "./run-script.mjs";

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

/** Returns false if this user cannot write, as in an image that another user built. The folder is then used as it is. */
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
 * Not `npm ci`: it refuses a lock file written with a registry that lacks other platforms' packages. Scripts of packages do not run, so
 * that the lock file has a digest of everything that is installed.
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

/** node_modules/.installed: the last install, written when it was complete. */
const recordName = ".installed";
/** npm writes this file at the end of an install, and Weir removes it before one. So if it is absent, an install was interrupted. */
const npmRecordName = ".package-lock.json";

/** The state of node_modules: the record of the last install, and whether it is still valid. */
function readInstalled(root) {
  const modules = join(root, "node_modules");
  const record = readRecord(modules);
  return {
    modules,
    lock: lockDigest(root),
    record,
    damaged: record === null ? [] : damagedPackages(record.sizes, modules),
    interrupted: record === null && !existsSync(join(modules, npmRecordName)),
    hasDevelopmentPackages: record === null ? npmRecordHasDevelopmentPackages(modules) : record.packages === "all",
  };
}

/** Whether the requested packages ("production" or "all") are installed, complete, and from this lock file. */
function isInstalled(installed, packages) {
  const { record, lock, damaged } = installed;
  return record !== null && record.lock === lock && damaged.length === 0 && (record.packages === "all" || packages !== "all");
}

/** Removes the records and the damaged packages. npm would keep these, since it compares versions, not files. */
function clearDamage({ modules, damaged, interrupted }) {
  // npm links commands only when it installs a package, so if .bin is missing, all packages are removed.
  const everything = interrupted || damaged.includes(".bin");
  const names = everything ? readdirSync(modules).filter((name) => !name.startsWith(claimPrefix)) : damaged;
  for (const name of [recordName, npmRecordName, ...names]) rmSync(join(modules, name), { recursive: true, force: true });
}

function writeRecord({ root, packages }) {
  const modules = join(root, "node_modules");
  const record = { lock: lockDigest(root), packages, sizes: packageSizes(modules) };
  const temporary = join(modules, `${recordName}.${process.pid}`);
  writeFileSync(temporary, `${JSON.stringify(record)}\n`);
  renameSync(temporary, join(modules, recordName));
}

function lockDigest(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

function readRecord(modules) {
  try {
    const record = JSON.parse(readFileSync(join(modules, recordName), "utf8"));
    return typeof record.lock === "string" && typeof record.sizes === "object" && record.sizes !== null ? record : null;
  } catch {
    return null;
  }
}

function npmRecordHasDevelopmentPackages(modules) {
  try {
    const { packages } = JSON.parse(readFileSync(join(modules, npmRecordName), "utf8"));
    return Object.values(packages).some((entry) => entry.dev === true);
  } catch {
    return false;
  }
}

/**
 * The number of files and bytes of each package, by its path below node_modules (`.bin` counts as one package).
 * Reading the sizes of 14,000 files takes 70 ms, and finds deleted folders and truncated files.
 */
function packageSizes(modules) {
  const sizes = {};
  for (const name of packageNames(modules)) sizes[name] = sizeOf(join(modules, name));
  return sizes;
}

/** The packages that lost files or bytes since `before`. Growth is not damage: some packages unpack themselves on first use. */
function damagedPackages(before, modules) {
  const now = packageSizes(modules);
  return Object.keys(before).filter((name) => {
    const size = now[name];
    return size === undefined || size.files < before[name].files || size.bytes < before[name].bytes;
  });
}

function packageNames(modules) {
  return readdirSync(modules).flatMap((name) => {
    if (name === ".bin") return [name];
    if (name.startsWith(".")) return [];
    if (!name.startsWith("@")) return [name];
    return readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`);
  });
}

function sizeOf(folder) {
  const size = { files: 0, bytes: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const inner = entry.isDirectory() ? sizeOf(path) : { files: 1, bytes: lstatSync(path).size };
    size.files += inner.files;
    size.bytes += inner.bytes;
  }
  return size;
}

const claimPrefix = ".installing-";
/** The process id in a claim older than this now belongs to another process. */
const claimAgeMsMax = 15 * 60_000;

/**
 * Allows one install of a folder at a time. Each process writes a claim file under its own name and then looks for others. A process that
 * finds the claim of a live one withdraws its own and tries again. So removing a dead claim can never remove a live one.
 */
async function claimInstall(modules) {
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
