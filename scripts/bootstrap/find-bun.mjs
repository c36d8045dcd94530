import { spawnSync } from "node:child_process";
import { copyFileSync, linkSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BootstrapError } from "./bootstrap-error.mjs";

/**
 * The path of a Bun that runs. The package comes with a stub, in whose place its install script would put the binary of one of the
 * platform packages; where that is missing it would fetch one whose digest nobody compares. So the script never runs, and what it
 * does of use is done here.
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

/** Under its own name and the stub's: two links to one file, or where the file system has none, a copy. False where neither can be. */
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
