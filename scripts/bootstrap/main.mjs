/** Runs one script of package.json: prints its help, or installs what it needs, finds a Bun that runs, and runs it there. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { BootstrapError, runScript } from "./run-script.mjs";
import { findBun } from "./find-bun.mjs";
import { help } from "./help.mjs";
import { install } from "./install.mjs";

/**
 * The scripts of package.json that run on Bun.
 *
 * - `file`: the file that Bun runs, relative to the root.
 * - `packages`: "production" leaves development packages out, "all" needs them.
 * - `service`: the first signal shuts it down gracefully; other scripts are killed by a signal like any command.
 */
const scripts = {
  start: { file: "src/main.ts", packages: "production", service: true, env: { NODE_ENV: "production" } },
  test: { file: "scripts/test.ts", packages: "all", service: true },
  ok: { file: "scripts/ok.ts", packages: "all", service: true },
  cluster: { file: "scripts/cluster.ts", packages: "production", service: true },
  weir: { file: "scripts/weir.ts", packages: "production", service: false },
  hostile: { file: "test/hostile/main.ts", packages: "all", service: true },
  frameworks: { file: "test/frameworks/main.ts", packages: "all", service: true },
  mcp: { file: "scripts/mcp.ts", packages: "production", service: false },
  bench: { file: "bench/main.ts", packages: "all", service: true },
  chaos: { file: "scripts/chaos.ts", packages: "all", service: true },
  screenshots: { file: "test/browser/screenshots/main.ts", packages: "all", service: true },
  simulate: { file: "scripts/simulate.ts", packages: "all", service: false },
  alerts: { file: "scripts/alerts.ts", packages: "production", service: false },
  "check-deploy": { file: "scripts/check-deploy.ts", packages: "all", service: false },
  mutations: { file: "scripts/mutations.ts", packages: "all", service: false },
};

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Installs the packages that the named script needs, runs it, and exits with its code; or only prints its help. */
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
