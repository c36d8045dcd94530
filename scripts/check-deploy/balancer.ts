/** HAProxy reads its configuration, then balances two gateways that restart under load. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase, testServices } from "../../test/support/servers/services.ts";
import { Fleet } from "../../test/support/servers/fleet.ts";
import { freePort } from "../services/free-port.ts";
import { root, run, toolOf } from "./tool.ts";

const file = join("deploy", "haproxy", "haproxy.cfg");
const clients = 30;
/** As deploy/compose/fleet.yaml has it. */
const leaveMs = 4_000;
const readyMsMax = 30_000;
/** A stream of two seconds, so that some are open at each signal. */
const streamed = { stream: true, messages: [{ role: "user", content: "sandbox: tokens=20 gap_ms=100" }] };

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
  const answers = await restartUnderLoad(haproxy, fleet);
  return `${accepted}; ${answers} streams through it while both gateways restart, none refused or broken`;
}

/** @returns the number of streams @throws Error with those that were refused or broken */
async function restartUnderLoad(haproxy: string, fleet: Fleet): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "weir-balancer-"));
  const port = await freePort();
  const config = join(folder, "haproxy.cfg");
  writeFileSync(config, readFileSync(join(root, file), "utf8").replace("bind :8080", `bind 127.0.0.1:${port}`));
  const [one, two] = fleet.gateways.map((gateway) => `127.0.0.1:${gateway.port}`);
  const balancer = spawn(haproxy, ["-f", config], { env: { ...process.env, GATEWAY_1: one, GATEWAY_2: two }, stdio: "ignore" });
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url);
    const { keys } = await fleet.operator().customer({ credit: "100" });
    const stop = new AbortController();
    const outcomes: string[] = [];
    const load = Array.from({ length: clients }, async () => {
      while (!stop.signal.aborted) outcomes.push(await stream(url, keys[0]?.key ?? ""));
    });
    for (const { port: own, process: gateway, url: address } of fleet.gateways.slice(0, 2)) {
      await Bun.sleep(1_000);
      gateway.signal("SIGTERM");
      await gateway.exited;
      await fleet.addGateway(own);
      await untilReady(address);
      // HAProxy looks once a second.
      await Bun.sleep(2_000);
    }
    stop.abort();
    await Promise.all(load);
    const failed = outcomes.filter((outcome) => outcome !== "whole");
    if (failed.length > 0)
      throw new Error(`${failed.length} of ${outcomes.length} streams failed: ${failed.slice(0, 5).join(", ")}`);
    return outcomes.length;
  } finally {
    balancer.kill("SIGTERM");
    rmSync(folder, { recursive: true });
  }
}

/** One chat with the sandbox. @returns "whole", or what went wrong */
async function stream(url: string, key: string): Promise<string> {
  try {
    const response = await fetch(`${url}/gpt/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/echo", ...streamed }),
    });
    const text = await response.text();
    if (response.status !== 200) return `status ${response.status}`;
    return text.endsWith("data: [DONE]\n\n") && !text.includes('"error"') ? "whole" : "broken";
  } catch (error) {
    return String(error);
  }
}

async function untilReady(url: string): Promise<void> {
  const endsAt = performance.now() + readyMsMax;
  while ((await fetch(`${url}/ready`).catch(() => null))?.status !== 200) {
    if (performance.now() > endsAt) throw new Error(`${url}/ready is not 200 after ${readyMsMax / 1_000} s`);
    await Bun.sleep(100);
  }
}
