import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { help } from "../../scripts/bootstrap/help.mjs";
import { freePort } from "../../scripts/services/ports.ts";
import type { FleetView } from "../../src/backing/fleet-state.ts";
import { modelsAlone } from "../support/providers/catalogs.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);
const root = dirname(dirname(import.meta.dir));
const servers = await testServers();
const patienceMs = 120_000;
const catalogDir = await modelsAlone();

interface Supervisor {
  child: ChildProcess;
  pid: number;
  output(): string;
  ended: Promise<number | null>;
}

/** The environment without the three addresses, so that the supervisor starts its own servers. */
function start(options: string[], environment: Record<string, string>): Supervisor {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, ["scripts/cluster.ts", ...options], {
    cwd: root,
    env: { PATH, HOME, CATALOG_DIR: catalogDir, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += String(data)));
  const ended = once(child, "close").then(() => child.exitCode);
  return { child, pid: child.pid ?? 0, output: () => output, ended };
}

/** The command lines of the supervisor's processes, by process id. */
function processesOf(pid: number): Map<number, string> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  const lines = children.map((child) => [child, commandLineOf(child)] as const);
  return new Map(lines.filter(([, line]) => line !== ""));
}

/** Empty when the process has ended meanwhile, like `taskset`, which ends at once. */
function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

function pidsOf(pid: number, command: RegExp): number[] {
  return [...processesOf(pid)].flatMap(([child, line]) => (command.test(line) ? [child] : []));
}

async function untilSaid({ child, output }: Supervisor, condition: () => boolean): Promise<void> {
  await until(() => condition() || child.exitCode !== null, patienceMs);
  if (!condition()) throw new Error(`The supervisor ended with ${child.exitCode}: ${output()}`);
}

/** The first key, which one of the gateways writes into a file. */
function firstKey(dataDir: string): string {
  const path = join(dataDir, "first-keys");
  return /platform-api-[0-9a-f]{64}/.exec(existsSync(path) ? readFileSync(path, "utf8") : "")?.[0] ?? "";
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/ready`, { keepalive: false }).catch(() => null);
  return answer?.status === 200;
}

/** A process that has ended may stay in the list until its parent asks for it. */
function allGone(pids: Iterable<number>): boolean {
  return [...pids].every((pid) => commandLineOf(pid) === "");
}

describe.skipIf(servers === null)("a fleet under its supervisor", () => {
  let dataDir = "";
  let port = 0;
  let metricsPort = 0;
  let fleet: Supervisor;
  let key = "";

  beforeAll(async () => {
    dataDir = join(await temporaryFolder("cluster"), "data");
    port = await freePort();
    metricsPort = await freePort({ also: [1, 2, 3, 4, 5] });
    const environment = { DATA_DIR: dataDir, METRICS_PORT: String(metricsPort), ACME_API_KEY: "sk-of-a-provider" };
    fleet = start(["--gateways", "2", "--workers", "2", "--port", String(port)], environment);
    await untilSaid(fleet, () => fleet.output().includes("The fleet is ready") && firstKey(dataDir) !== "");
    key = firstKey(dataDir);
  });

  afterAll(async () => {
    fleet.child.kill("SIGKILL");
    await fleet.ended;
  });

  test("each process has its documented command line", () => {
    const lines = [...processesOf(fleet.pid).values()].filter((line) => line.startsWith("bun ")).toSorted();
    expect(lines).toEqual([
      "bun src/main.ts",
      "bun src/main.ts",
      "bun workers/main.ts admission",
      "bun workers/main.ts admission",
      "bun workers/main.ts background",
      "bun workers/main.ts metering",
    ]);
  });

  test("no process of a first start complains of missing tables, and the printed command has the port and the folder", () => {
    expect(fleet.output()).not.toContain("does not exist");
    expect(fleet.output()).toContain(`\n  PORT=${port} DATA_DIR=${dataDir} npm run -s weir -- key create`);
  });

  test("only the owner can read secret files", () => {
    for (const name of ["operator-token", "secrets-key", "first-keys"])
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  });

  test("processes get no secret that they do not use", () => {
    const holding = (secret: string) =>
      [...processesOf(fleet.pid)].flatMap(([pid, line]) =>
        readFileSync(`/proc/${pid}/environ`, "utf8").includes(secret) ? [line.replace(/^.*main\.ts ?/, "")] : [],
      );
    const key = readFileSync(join(dataDir, "secrets-key"), "utf8").trim();
    // The prober, which runs in background, calls providers with stored keys.
    expect(holding(key).toSorted()).toEqual(["", "", "background"]);
    expect(holding("sk-of-a-provider").toSorted()).toEqual(["", "", "background"]);
    expect(holding("REDIS_URL=redis://:").toSorted()).toEqual(["admission", "admission", "metering"]);
  });

  test("each gateway and each worker has its own metrics port, which the supervisor prints at start", async () => {
    const shown = [...fleet.output().matchAll(/^ {2}(\d+) {2}(\w+) (\d)$/gm)].map(([, at, role, n]): [number, string] => [
      Number(at),
      `${role} ${n}`,
    ]);
    expect(shown.map(([at]) => at)).toEqual(shown.map((_, index) => metricsPort + index));
    const names = ["gateway 1", "gateway 2", "admission 1", "admission 2", "background 1", "metering 1"];
    expect(shown.map(([, name]) => name)).toEqual(names);
    const texts = await Promise.all(shown.map(async ([at]) => (await fetch(`http://127.0.0.1:${at}/metrics`)).text()));
    expect(texts.map((text) => text.includes("weir_generations_open"))).toEqual(names.map((name) => name.startsWith("gateway")));
  });

  test("the output, which log collectors store, contains the path of the file with the first keys, but not the keys", () => {
    expect(fleet.output()).toContain(`The first keys are in "${join(dataDir, "first-keys")}"`);
    expect(fleet.output()).not.toMatch(/platform-(api|mcp)-[0-9a-f]/);
  });

  test("the start says that the Console is off, and how to switch it on", () => {
    expect(fleet.output()).toContain("CONSOLE=on npm run cluster    (switches the Console on, which is off in a fleet");
  });

  test("weir status names every process of the fleet, and finds nothing wrong", async () => {
    const headers = { authorization: `Bearer ${readFileSync(join(dataDir, "operator-token"), "utf8").trim()}` };
    const state = (await (await fetch(`http://127.0.0.1:${port}/api/console/status`, { headers })).json()) as FleetView;
    expect(state).toMatchObject({ ok: true, problems: [], schema: { missing: [], unknown: [] } });
    const roles = state.processes.map(({ role }) => role);
    expect(roles).toEqual(["admission", "admission", "background", "gateway", "gateway", "metering"]);
  });

  test("a second supervisor on the same folder exits with 1, names the first, and harms nothing", async () => {
    const second = start(["--port", String(await freePort())], { DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`belongs to process ${fleet.pid}`);
    await until(() => isReady(port), patienceMs);
  });

  test("the supervisor restarts a gateway, a worker and a server after kill -9, and the fleet is ready again", async () => {
    for (const command of [/^bun src\/main\.ts$/, /^bun workers\/main\.ts admission$/, /redis-server/]) {
      const before = pidsOf(fleet.pid, command);
      const killed = before[0] ?? 0;
      process.kill(killed, "SIGKILL");
      await until(() => {
        const now = pidsOf(fleet.pid, command);
        return now.length === before.length && !now.includes(killed);
      }, patienceMs);
    }
    await until(() => isReady(port), patienceMs);
  });

  test("after SIGTERM it stops gateways first and metering last, and leaves nothing running", async () => {
    const processes = processesOf(fleet.pid).keys().toArray();
    fleet.child.kill("SIGTERM");
    expect(await fleet.ended).toBe(0);
    expect(allGone(processes)).toBe(true);
    const stopping = [...fleet.output().matchAll(/"role":"(\w+)",[^\n]*"event":"stopping"/g)].map(([, role = ""]) => role);
    const rank = (role: string) => ["gateway", "admission", "metering"].indexOf(role === "background" ? "admission" : role);
    const ranks = stopping.map(rank);
    expect(ranks).toEqual(ranks.toSorted());
    expect(new Set(ranks)).toEqual(new Set([0, 1, 2]));
  });

  test("after a restart the fleet has the same keys and credit", async () => {
    fleet = start(["--gateways", "1", "--workers", "1", "--port", String(port)], { DATA_DIR: dataDir });
    await untilSaid(fleet, () => fleet.output().includes("The fleet is ready"));
    const answer = await fetch(`http://127.0.0.1:${port}/gpt/v1/key`, { headers: { authorization: `Bearer ${key}` } });
    expect(await answer.json()).toMatchObject({ data: { available_credit_usd: 10 } });
  });

  test("a second Ctrl-C kills processes that do not end by themselves", async () => {
    const processes = processesOf(fleet.pid).keys().toArray();
    process.kill(pidsOf(fleet.pid, /src\/main\.ts/)[0] ?? 0, "SIGSTOP");
    fleet.child.kill("SIGINT");
    await until(() => fleet.output().includes("SIGINT: stopping"));
    const askedMs = performance.now();
    await until(() => performance.now() - askedMs > 1_100);
    fleet.child.kill("SIGINT");
    expect(await fleet.ended).toBe(130);
    await until(() => allGone(processes));
  });
});

describe("a supervisor that cannot start exits with 1 and leaves nothing behind", () => {
  async function refusal(options: string[], environment: Record<string, string>): Promise<string> {
    const dataDir = join(await temporaryFolder("cluster"), "data");
    const supervisor = start(options, { DATA_DIR: dataDir, ...environment });
    expect(await supervisor.ended).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
    return supervisor.output();
  }

  test("when the port is taken, and the error names it", async () => {
    const holder = createServer().listen({ port: 0, host: "127.0.0.1" });
    await once(holder, "listening");
    const address = holder.address();
    const port = typeof address === "object" && address ? address.port : 0;
    expect(await refusal(["--port", String(port)], {})).toBe(`Port ${port} on 127.0.0.1 is taken: set another PORT\n`);
    holder.close();
  });

  test("when a metrics port is not free, and the error names it", async () => {
    const output = await refusal(["--gateways", "1", "--workers", "1"], { METRICS_PORT: "65533" });
    expect(output).toContain(
      "METRICS_PORT=65533 gives the 4 processes the ports 65533 to 65536, and metering 1 cannot have 65536: set another",
    );
  });

  test("when a server ends at once, and one sentence names the program, its exit code and the last words of its log", async () => {
    const folder = await temporaryFolder("broken-redis");
    const program = join(folder, "redis-server");
    writeFileSync(
      program,
      `#!/bin/sh\n[ "$1" = --version ] && { echo v=7; exit; }\necho start >> ${folder}/starts\necho "RDB ERROR DETECTED" >&2\nexit 3\n`,
      { mode: 0o755 },
    );
    const dataDir = join(folder, "data");
    const supervisor = start([], { DATA_DIR: dataDir, PORT: String(await freePort()), PATH: `${folder}:${process.env["PATH"]}` });
    expect(await supervisor.ended).toBe(1);
    const log = join(dataDir, "servers/redis/server.log");
    const [sentence, advice, ...rest] = supervisor.output().split("\n");
    expect(sentence).toBe(
      `Cannot start redis-server: ${program} ended with exit code 3, and its log "${log}" ends with: RDB ERROR DETECTED`,
    );
    expect(advice).toContain("set DATABASE_URL, NATS_URL and REDIS_URL to servers that run");
    expect(rest).toEqual([""]);
    // Twenty were tried, which took a minute with all that waited for them.
    expect(readFileSync(join(folder, "starts"), "utf8").trim().split("\n")).toHaveLength(3);
  });

  test("when only some of the three addresses are set", async () => {
    expect(await refusal([], { NATS_URL: "nats://127.0.0.1:4222" })).toContain("NATS_URL set without DATABASE_URL and REDIS_URL");
  });

  test.each([[["--gateways", "0"]], [["--workers", "many"]], [["--gatways", "2"]]])(
    "when its arguments are %p, and it prints the usage",
    async (options) => {
      expect(await refusal(options, {})).toContain(help.cluster);
    },
  );
});
