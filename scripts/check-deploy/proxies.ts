/** The proxies of the documents and of deploy/ do what SECURITY.md asks: by their text, and where their programs run here, by trial. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BalancedLoad } from "../../test/support/balancer/balanced-load.ts";
import { Balancer } from "../../test/support/balancer/balancer.ts";
import { proxyFaults, StandInGateway } from "../../test/support/balancer/proxied.ts";
import { OurProcess } from "../../test/support/processes/process.ts";
import { Fleet } from "../../test/support/servers/fleet.ts";
import { freshDatabase, testServices } from "../../test/support/servers/services.ts";
import { until } from "../../test/support/until.ts";
import { findBalancer, findHere } from "../services/find-servers.ts";
import { freePort } from "../services/ports.ts";
import { killWithParent, environmentOf, type Program } from "../services/program.ts";
import { root, run, toolOf } from "./tool.ts";

const page = join(root, "docs/how-to/proxy-with-tls.md");
const startMsMax = 30_000;

/** What each configuration has to say, in this order. */
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

/** @returns each line that a configuration lacks or has in another place */
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
  const tried: string[] = [];
  const haproxy = await findBalancer();
  if (haproxy !== null) tried.push(await tryHaproxy(haproxy));
  const nginx = await findHere("nginx", isNginx);
  if (nginx !== null) tried.push(await tryNginx(nginx));
  return `the texts have all that SECURITY.md asks; tried with slow bodies, files, streams and floods: ${tried.join(", ") || "none, for want of a program"}`;
}

async function tryHaproxy(program: Program): Promise<string> {
  await using gateway = new StandInGateway();
  await using balancer = await Balancer.start(program, [gateway, gateway]);
  requireNone(await proxyFaults(balancer.url, gateway), "HAProxy");
  return "HAProxy";
}

/** Without TLS, on a free port, in a folder of its own. */
async function tryNginx(program: Program): Promise<string> {
  await using gateway = new StandInGateway();
  const folder = mkdtempSync(join(tmpdir(), "weir-nginx-"));
  const port = await freePort();
  const server = configurationOf("nginx")
    .replace("listen 443 ssl http2;", `listen 127.0.0.1:${port};`)
    .split("\n")
    .filter((line) => !line.startsWith("  ssl_"))
    .join("\n")
    .replaceAll("http://127.0.0.1:8080", gateway.url);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const http = `http { access_log off; ${paths.join(" ")}\n${server}}`;
  // As root it would give its work to a user who may not write here.
  const user = process.getuid?.() === 0 ? "user root; " : "";
  const main = `${user}daemon off; pid ${join(folder, "pid")}; error_log stderr crit; events { worker_connections 2048; }`;
  writeFileSync(join(folder, "nginx.conf"), `${main}\n${http}\n`);
  const words = ["-p", folder, "-c", join(folder, "nginx.conf")];
  try {
    const environment = Object.fromEntries(
      Object.entries(environmentOf(program)).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    await run([program.path, "-t", ...words], { environment });
    const [command = "", ...rest] = [...killWithParent("SIGTERM"), program.path, ...words];
    await using running = new OurProcess({ program: command, arguments: rest, environment });
    const url = `http://127.0.0.1:${port}`;
    await until(async () => !running.running || (await fetch(`${url}/ready`).catch(() => null))?.status === 200, startMsMax);
    requireNone(await proxyFaults(url, gateway), `nginx (${running.output})`);
    return "nginx";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function requireNone(faults: readonly string[], who: string): void {
  if (faults.length > 0) throw new Error(`${who}: ${faults.join("; ")}`);
}

function isNginx(program: Program): boolean {
  return Bun.spawnSync([program.path, "-v"], { env: environmentOf(program) }).success;
}

/** HAProxy reads its configuration, then balances two gateways that restart under load. */

const file = join("deploy", "haproxy", "haproxy.cfg");
const clients = { streams: 30, requests: 3 };
/** As deploy/compose/fleet.yaml has it. */
const leaveMs = 4_000;

export async function checkBalancer(): Promise<string> {
  const haproxy = toolOf("haproxy");
  const addresses = { GATEWAY_1: "127.0.0.1:8081", GATEWAY_2: "127.0.0.1:8082" };
  const output = await run([haproxy, "-c", "-f", file], { environment: addresses });
  if (/WARNING|ALERT/.test(output)) throw new Error(output);
  const services = await testServices();
  const accepted = "haproxy -c accepts it without a warning";
  if (services === null) return `${accepted}; no gateways behind it, for want of their servers`;
  const DATABASE_URL = await freshDatabase(services.urls.DATABASE_URL);
  const environment = { SHUTDOWN_LEAVE_MS: String(leaveMs) };
  await using fleet = await Fleet.start({ gateways: 2, workers: 2, services: { ...services.urls, DATABASE_URL }, environment });
  await using balancer = await Balancer.start({ path: haproxy, libraries: null }, fleet.gateways);
  const answers = await restartUnderLoad(fleet, balancer);
  return `${accepted}; ${answers} answers through it while both gateways restart, none refused or broken`;
}

/** @returns the number of answers @throws Error with those that were refused or broken */
async function restartUnderLoad(fleet: Fleet, balancer: Balancer): Promise<number> {
  const { keys } = await fleet.operator().customer({ credit: "100" });
  const load = new BalancedLoad({ url: balancer.url, key: keys[0]?.key ?? "", ...clients });
  for (const [place, { port, process: gateway }] of fleet.gateways.slice(0, 2).entries()) {
    const number = place === 0 ? 1 : 2;
    gateway.signal("SIGTERM");
    await balancer.saw(number, "DOWN");
    await gateway.exited;
    await fleet.addGateway(port);
    await balancer.saw(number, "UP");
  }
  await load[Symbol.asyncDispose]();
  const { failures, whole } = load;
  if (failures.length === 0) return whole;
  const some = failures.slice(0, 5).map(({ what }) => what);
  throw new Error(`${failures.length} requests of ${failures.length + whole} failed: ${some.join(", ")}`);
}
