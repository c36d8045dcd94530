/**
 * Checks that the proxy configurations in the docs and in deploy/ do what SECURITY.md requires: by their text, and nginx also by a trial if
 * it runs here. test/recovery has the same trial for HAProxy, and one of gateways that restart behind it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { proxyFaults, StandInGateway } from "../../test/support/balancer/proxied.ts";
import { OurProcess } from "../../test/support/processes/process.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { until } from "../../test/support/until.ts";
import { findHere, runs } from "../services/find-servers.ts";
import { freePort } from "../services/ports.ts";
import { killWithParent, environmentOf, type Program } from "../services/program.ts";
import { root, run, toolOf } from "./tool.ts";

const page = join(root, "docs/how-to/proxy-with-tls.md");
const startMsMax = 30_000;

/** What each configuration must contain, in this order. */
const wanted: Record<string, string[]> = {
  haproxy: [
    "    option http-buffer-request\n",
    "    timeout http-request ",
    "    tcp-request connection reject if { sc0_conn_cur gt ",
    "    http-request normalize-uri percent-decode-unreserved\n",
    "    http-request normalize-uri path-merge-slashes\n",
    "    http-request normalize-uri path-strip-dotdot full\n",
    "    http-request deny deny_status 403 if { path_reg ^/metrics/*$ }\n",
    "    http-request deny deny_status 429 if !by_key { sc1_http_req_rate(people) gt ",
  ],
  nginx: [
    "  limit_conn weir_connections ",
    "  proxy_buffering off;\n",
    "  proxy_request_buffering on;\n",
    "    limit_req zone=weir_people ",
    String.raw`  location ~ (^/metrics/*$|\x5c) {`,
    "  location ~ ^/(gpt|api/tools|mcp) {",
  ],
  caddyfile: ["      read_body ", String.raw`  @closed path_regexp ^/metrics/*$|\\`, "  respond @closed 404\n"],
};

/** @returns each line that a configuration lacks or has out of order */
export function proxyProblems(): string[] {
  return Object.entries(wanted).flatMap(([name, lines]) => {
    const text = configurationOf(name);
    let at = 0;
    return lines.flatMap((line) => {
      const found = text.indexOf(line, at);
      if (found === -1) return [`${name}: "${line.trim()}" is missing or in another place`];
      at = found;
      return [];
    });
  });
}

function configurationOf(name: string): string {
  if (name === "haproxy") return readFileSync(join(root, "deploy/haproxy/haproxy.cfg"), "utf8");
  const [, block = ""] = readFileSync(page, "utf8").split(`\`\`\`${name} `);
  return block.slice(block.indexOf("\n") + 1, block.indexOf("```"));
}

export async function checkProxies(): Promise<string> {
  const problems = proxyProblems();
  if (problems.length > 0) throw new Error(problems.join("; "));
  const nginx = await findHere("nginx", runs("-v"));
  if (nginx !== null) await tryNginx(nginx);
  const tried =
    nginx === null ? "nginx is not installed, so it is not tried" : "nginx withstands slow bodies, files, streams and floods";
  return `the texts have all that SECURITY.md asks; ${tried}`;
}

/** Without TLS, on a free port, in a separate folder. */
async function tryNginx(program: Program): Promise<void> {
  await using gateway = new StandInGateway();
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const port = await freePort();
  const server = configurationOf("nginx")
    .replace("listen 443 ssl http2;", `listen 127.0.0.1:${port};`)
    .split("\n")
    .filter((line) => !line.startsWith("  ssl_"))
    .join("\n")
    .replaceAll("http://127.0.0.1:8080", gateway.url);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const http = `http { access_log off; ${paths.join(" ")}\n${server}}`;
  // As root it would run its workers as a user who may not write here.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  const main = `${user}daemon off; pid ${join(folder, "pid")}; error_log stderr crit; events { worker_connections 2048; }`;
  writeFileSync(join(folder, "nginx.conf"), `${main}\n${http}\n`);
  const words = ["-p", folder, "-c", join(folder, "nginx.conf")];
  const environment = environmentOf(program);
  await run([program.path, "-t", ...words], { environment });
  const [command = "", ...rest] = [...killWithParent("SIGTERM"), program.path, ...words];
  await using running = new OurProcess({ program: command, arguments: rest, environment });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => !running.running || (await fetch(`${url}/ready`).catch(() => null))?.status === 200, startMsMax);
  const faults = await proxyFaults(url, gateway);
  if (faults.length > 0) throw new Error(`nginx (${running.output}): ${faults.join("; ")}`);
}

export async function checkBalancer(): Promise<string> {
  const haproxy = toolOf("haproxy");
  const addresses = { GATEWAY_1: "127.0.0.1:8081", GATEWAY_2: "127.0.0.1:8082" };
  const output = await run([haproxy, "-c", "-f", "deploy/haproxy/haproxy.cfg"], { environment: addresses });
  if (/WARNING|ALERT/.test(output)) throw new Error(output);
  return "haproxy -c accepts it without a warning";
}
