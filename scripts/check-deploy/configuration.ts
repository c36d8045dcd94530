/**
 * Checks the configurations of other programs: systemd's units, whose confinement systemd also rates; NATS's, for a cluster of three and
 * for the compose files; and the dashboard, which is read with Grafana's own types.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "../../test/support/servers/self-signed.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { findServers } from "../services/find-servers.ts";
import { environmentOf } from "../services/program.ts";
import { root, run, toolOf, ToolMissingError } from "./tool.ts";

/** In tenths, from 0 to 100: `systemd-analyze security` calls 2 and less OK. */
const exposureMax = 20;

export async function checkUnits(): Promise<string> {
  const analyze = toolOf("systemd-analyze");
  await using folder = await temporaryFolder();
  cpSync(join(root, "deploy/systemd"), folder.path, { recursive: true });
  const paths = readdirSync(folder.path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(service|target|conf)$/.test(name))
    .map((name) => join(folder.path, name));
  for (const path of paths) writeFileSync(path, installedHere(readFileSync(path, "utf8")));
  const units = paths.filter((path) => !path.endsWith(".conf"));
  const warnings = (await run([analyze, "verify", "--man=no", ...units])).split("\n").filter((line) => line.includes("weir"));
  if (warnings.length > 0) throw new Error(warnings.join("\n"));
  for (const service of units.filter((path) => path.endsWith(".service"))) {
    await run([analyze, "security", "--offline=true", `--threshold=${exposureMax}`, "--no-pager", service]);
  }
  return `systemd-analyze verifies ${units.length} units, each with an exposure of at most ${exposureMax / 10}`;
}

/** The units as they would be with the project in this folder. */
function installedHere(text: string): string {
  return text.replaceAll("/opt/weir/node_modules/.bin/bun", process.execPath).replaceAll("/opt/weir", root);
}

export async function checkNats(): Promise<string> {
  const servers = await findServers();
  if ("missing" in servers) throw new ToolMissingError(servers.missing);
  const { nats } = servers;
  await using folder = await temporaryFolder();
  const [server, compose] = [join(folder.path, "server.conf"), join(folder.path, "compose.conf")];
  cpSync(join(root, "deploy/nats"), folder.path, { recursive: true });
  cpSync(join(root, "deploy/compose/nats.conf"), compose);
  const { key, cert } = selfSigned("localhost");
  for (const [name, text] of Object.entries({ "server.pem": cert, "server-key.pem": key, "authority.pem": cert })) {
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  }
  writeFileSync(server, readFileSync(server, "utf8").replaceAll("/etc/nats", folder.path));
  const users = ["GATEWAY", "ADMISSION", "METERING", "WORKER"].map((user) => [`WEIR_NATS_${user}_PASSWORD`, "w0"]);
  const environment = { ...environmentOf(nats), WEIR_NATS_NAME: "one", ...Object.fromEntries(users) };
  for (const file of [server, compose]) await run([nats.path, "-t", "--config", file], { environment });
  return `${await run([nats.path, "--version"], { environment })} accepts both configurations`;
}

/** Go fetches Grafana's module the first time. */
export async function checkDashboard(): Promise<string> {
  const go = toolOf("go");
  const seen = await run([go, "run", ".", join(root, "deploy/grafana/weir-dashboard.json")], {
    folder: join(root, "scripts/check-deploy/dashboard"),
  });
  return `Grafana's types know every field of the dashboard's ${seen}`;
}
