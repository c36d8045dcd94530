/** Finds a Bun that runs on this machine, among those that npm installed. */
import { spawnSync } from "node:child_process";
import { copyFileSync, linkSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BootstrapError } from "./run-script.mjs";

/**
 * The path of a Bun that runs. The package contains a stub, which its install script would replace with the binary of a platform package.
 * If that package were missing, the script would download a binary without checking its digest. So the script never runs, and this function
 * replaces the stub.
 */
export function findBun(root) {
  const modules = join(root, "node_modules");
  const linked = join(modules, ".bin", process.platform === "win32" ? "bun.exe" : "bun");
  const packaged = join(modules, "bun", "bin", "bun.exe");
  const found = [linked, packaged].find(runs);
  if (found) return found;
  const binary = platformBinaries(modules).find(runs);
  if (binary) return put(binary, packaged) && runs(linked) ? linked : binary;
  throw new BootstrapError(
    `Cannot run Bun on ${process.platform} ${process.arch}: no binary in node_modules works. ` +
      "Remove node_modules and start again; if npm leaves optional packages out (npm config get omit), let it install them",
  );
}

/** Replaces the stub with a hard link to the binary, or a copy if the file system has no links. Returns false if neither works. */
function put(binary, stub) {
  const draft = `${stub}.${process.pid}`;
  try {
    try {
      linkSync(binary, draft);
    } catch {
      copyFileSync(binary, draft);
    }
    renameSync(draft, stub);
    return true;
  } catch {
    rmSync(draft, { force: true });
    return false;
  }
}

function runs(path) {
  return spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0;
}

function platformBinaries(modules) {
  try {
    return readdirSync(join(modules, "@oven"))
      .filter((name) => name.startsWith("bun-"))
      .flatMap((name) => ["bun", "bun.exe"].map((file) => join(modules, "@oven", name, "bin", file)));
  } catch {
    return [];
  }
}
