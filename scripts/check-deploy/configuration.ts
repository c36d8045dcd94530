/** systemd reads the units, and judges how far they are confined. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../test/support/servers/self-signed.ts";
import { findServers } from "../services/find-servers.ts";
import { environmentOf } from "../services/program.ts";
import { root, run, toolOf, ToolMissingError } from "./tool.ts";

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

/** The NATS server reads its configurations: one of three servers, and that of the compose files. */

export async function checkNats(): Promise<string> {
  const servers = await findServers();
  if ("missing" in servers) throw new ToolMissingError(servers.missing);
  const { nats } = servers;
  const folder = mkdtempSync(join(tmpdir(), "weir-nats-"));
  try {
    cpSync(join(root, "deploy/nats"), folder, { recursive: true });
    cpSync(join(root, "deploy/compose/nats.conf"), join(folder, "compose.conf"));
    const { key, cert } = selfSigned("localhost");
    for (const [name, text] of Object.entries({ "server.pem": cert, "server-key.pem": key, "authority.pem": cert })) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    }
    const server = join(folder, "server.conf");
    writeFileSync(server, readFileSync(server, "utf8").replaceAll("/etc/nats", folder));
    const users = ["GATEWAY", "ADMISSION", "METERING", "WORKER"].map((user) => [`WEIR_NATS_${user}_PASSWORD`, "w0"]);
    const given = { ...environmentOf(nats), WEIR_NATS_NAME: "one", ...Object.fromEntries(users) };
    const environment = Object.fromEntries(
      Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    for (const file of [server, join(folder, "compose.conf")]) await run([nats.path, "-t", "--config", file], { environment });
    return `${await run([nats.path, "--version"], { environment })} accepts both configurations`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** promtool reads the alert rules and runs their tests; Grafana's own types read the dashboard. */

/** What scripts/alerts.ts ends with where promtool is not available. */
const lacksTool = "ended with 2";

export async function checkAlerts(): Promise<string> {
  try {
    await run([process.execPath, "scripts/alerts.ts"]);
    return "promtool accepts the alert rules, which pass their tests";
  } catch (error) {
    throw String(error).includes(lacksTool) ? new ToolMissingError("needs promtool") : error;
  }
}

/** Go fetches Grafana's module the first time. */
export async function checkDashboard(): Promise<string> {
  const go = toolOf("go");
  const seen = await run([go, "run", ".", join(root, "deploy/grafana/weir-dashboard.json")], {
    folder: join(root, "scripts/check-deploy/dashboard"),
  });
  return `Grafana's types know every field of the dashboard's ${seen}`;
}
