/** Runs one script of package.json: prints its help, or installs what it needs, finds a Bun that runs, and runs it there. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { BootstrapError, runScript } from "./run-script.mjs";
import { findBun } from "./find-bun.mjs";
import { help } from "./help.mjs";
import { install } from "./install.mjs";
import { scripts } from "./script-table.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Installs the packages that the named script needs, runs it, and exits with its code; or prints its help and does neither. */
export async function main([name, ...scriptArguments]) {
  const script = Object.hasOwn(scripts, name ?? "") ? scripts[name] : null;
  if (script === null) {
    console.error(`Cannot run "${name ?? ""}": the scripts are ${Object.keys(scripts).join(", ")}`);
    process.exit(1);
  }
  if (Object.hasOwn(help, name) && scriptArguments.some((word) => word === "--help" || word === "-h")) {
    console.log(help[name]);
    process.exit(0);
  }
  try {
    await install(root, script.packages);
    const bun = findBun(root);
    process.exit(await runScript({ root, bun, script, scriptArguments }));
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    console.error(error.message);
    process.exit(error.exitCode);
  }
}
