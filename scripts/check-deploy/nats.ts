/** The NATS server reads its configurations: one of three servers, and that of the compose files. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../test/support/servers/self-signed.ts";
import { findServers } from "../services/find-servers.ts";
import { environmentOf } from "../services/program.ts";
import { root, run, ToolMissingError } from "./tool.ts";

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
