/** systemd reads the units, and judges how far they are confined. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run, toolOf } from "./tool.ts";

/** In tenths, from 0 to 100: `systemd-analyze security` calls 2 and less OK. */
const exposureMax = 20;

export async function checkUnits(): Promise<string> {
  const analyze = toolOf("systemd-analyze");
  const folder = mkdtempSync(join(tmpdir(), "weir-units-"));
  try {
    cpSync(join(root, "deploy/systemd"), folder, { recursive: true });
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(service|target|conf)$/.test(name))
      .map((name) => join(folder, name));
    for (const path of paths) writeFileSync(path, installedHere(readFileSync(path, "utf8")));
    const units = paths.filter((path) => !path.endsWith(".conf"));
    const warnings = (await run([analyze, "verify", "--man=no", ...units])).split("\n").filter((line) => line.includes("weir"));
    if (warnings.length > 0) throw new Error(warnings.join("\n"));
    const services = units.filter((path) => path.endsWith(".service"));
    for (const service of services) {
      await run([analyze, "security", "--offline=true", `--threshold=${exposureMax}`, "--no-pager", service]);
    }
    return `systemd-analyze verifies ${units.length} units, each with an exposure of at most ${exposureMax / 10}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The units as they are where the project is in this folder. */
function installedHere(text: string): string {
  return text.replaceAll("/opt/weir/node_modules/.bin/bun", process.execPath).replaceAll("/opt/weir", root);
}
