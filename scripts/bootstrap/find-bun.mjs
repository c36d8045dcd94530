import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { BootstrapError } from "./bootstrap-error.mjs";

/**
 * The path of a Bun that runs. Installed without scripts, node_modules/.bin/bun is a stub: then its installer is run, and
 * last the binaries of the platform packages are tried as they are.
 */
export function findBun(root) {
  const modules = join(root, "node_modules");
  const linked = join(modules, ".bin", process.platform === "win32" ? "bun.exe" : "bun");
  const packaged = join(modules, "bun", "bin", "bun.exe");
  const found = [linked, packaged].find(runs);
  if (found) return found;
  spawnSync(process.execPath, [join(modules, "bun", "install.js")], { cwd: join(modules, "bun"), stdio: "ignore" });
  const repaired = [linked, packaged, ...platformBinaries(modules)].find(runs);
  if (repaired) return repaired;
  throw new BootstrapError(
    `Cannot run Bun on ${process.platform} ${process.arch}: no binary in node_modules works. ` +
      "Remove node_modules and start again; if npm leaves optional packages out (npm config get omit), let it install them",
  );
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
