import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimPrefix } from "./install-claim.mjs";
import { damagedPackages, packageSizes } from "./package-sizes.mjs";

/** node_modules/.installed: the last install, written when it was complete. */
const recordName = ".installed";
/** npm writes this file at the end of an install, and Weir removes it before one. So where it is absent, an install was interrupted. */
const npmRecordName = ".package-lock.json";

/** The state of node_modules: the record of the last install, and whether it still holds. */
export function readInstalled(root) {
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
export function isInstalled(installed, packages) {
  const { record, lock, damaged } = installed;
  return record !== null && record.lock === lock && damaged.length === 0 && (record.packages === "all" || packages !== "all");
}

/** Removes the records and the damaged packages. npm would keep these, since it compares versions, not files. */
export function clearDamage({ modules, damaged, interrupted }) {
  // npm links commands only when it installs a package, so where .bin is missing, all packages are removed.
  const everything = interrupted || damaged.includes(".bin");
  const names = everything ? readdirSync(modules).filter((name) => !name.startsWith(claimPrefix)) : damaged;
  for (const name of [recordName, npmRecordName, ...names]) rmSync(join(modules, name), { recursive: true, force: true });
}

export function writeRecord({ root, packages }) {
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
