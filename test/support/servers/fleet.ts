/**
 * A fleet of real processes on real servers, and the one process with embedded parts, with the same interface for tests. Where a promise
 * is not about processes, the service runs in the test's own process, over real HTTP too: that has its code and the embedded database
 * compiled already, and a process costs more CPU time to start than most files use.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { freePort } from "../../../scripts/services/ports.ts";
import type { ServiceUrls } from "../../../scripts/services.ts";
import { openBacking } from "../../../src/backing/open-backing.ts";
import { readConfig, readWorkerConfig } from "../../../src/config.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { serverSettings } from "../../../src/process/serving.ts";
import { startTelemetry } from "../../../src/process/telemetry/start-telemetry.ts";
import { openEmbedded } from "../../../src/server/embedded.ts";
import type { Service } from "../../../src/server/service.ts";
import { start as startProber } from "../../../workers/prober.ts";
import { chat, outcomeOf } from "../gateway/requests.ts";
import { OurProcess } from "../processes/process.ts";
import { modelsAlone } from "../providers/catalogs.ts";
import { copyEmbeddedDatabase } from "./prepared-databases.ts";
import { secretsKeyNamed } from "../secrets-key.ts";
import { until } from "../until.ts";
import { Operator } from "../operator.ts";

export interface FleetPlan {
  gateways?: number;
  workers?: number;
  metering?: number;
  /** Default: 0. Then `runnable` checks the models; the sandbox needs no check. For tests whose models are checked again and again. */
  probers?: number;
  /**
   * The catalog folder, for example from the provider stub, or `wholeCatalog`. By default it is this repository's without connectors:
   * to publish those takes more CPU time than the rest of a start.
   */
  catalogDir?: string;
  /** null: one process with embedded parts. */
  services: ServiceUrls | null;
  environment?: Record<string, string>;
  /** Gateways serve their metrics on a port of their own, where they are up to date. */
  metrics?: true;
  /** Kept across several fleets; by default removed with the fleet. */
  dataDir?: string;
  /** true: the process makes its embedded database. By default it finds an empty one, which costs a third of the CPU time. */
  makesDatabase?: boolean;
  /**
   * With null `services`: the service runs in the test's process. Not for tests that kill, stop or measure its process; and services of
   * one process share their metrics.
   */
  inTest?: true;
}

/** Where other suites take the CPU, a process that makes its database is slow to start. */
const startMsMax = 50_000;

export const operatorToken = "operator-token-of-a-test-of-32-characters";

interface FleetGateway {
  url: string;
  port: number;
  metricsPort: number | null;
  process: OurProcess;
  /** The log so far. */
  readonly output: string;
}

/** A gateway in the test's process. */
class GatewayInTest implements FleetGateway, AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly metricsPort = null;
  #service: Service | null = null;
  #telemetry: AsyncDisposable | null = null;
  output = "";

  private constructor(port: number) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(environment: Record<string, string>): Promise<GatewayInTest> {
    const config = readConfig(environment);
    const gateway = new GatewayInTest(config.port);
    const log = pino({ level: config.logLevel }, { write: (line) => void (gateway.output += line) });
    gateway.#telemetry = await startTelemetry({ config: config.telemetry, role: "gateway", clock: systemClock, log });
    gateway.#service = await openEmbedded({ config, log, clock: systemClock });
    gateway.#service.app.listen({ port: config.port, hostname: config.host, ...serverSettings });
    return gateway;
  }

  get process(): OurProcess {
    throw new Error("This gateway runs in the test's process");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const service = this.#service;
    this.#service = null;
    await service?.app.server?.stop(true);
    await service?.finish(0);
    await service?.close();
    await this.#telemetry?.[Symbol.asyncDispose]();
  }
}

export class Fleet implements AsyncDisposable {
  readonly gateways: FleetGateway[] = [];
  readonly workers: OurProcess[] = [];
  readonly metering: OurProcess[] = [];
  readonly prober: OurProcess[] = [];
  readonly #inTest: GatewayInTest[] = [];
  readonly dataDir: string;
  readonly #plan: FleetPlan & { catalogDir: string };

  private constructor(plan: FleetPlan & { catalogDir: string }, dataDir: string) {
    this.#plan = plan;
    this.dataDir = dataDir;
  }

  /** Resolves when every gateway is ready. */
  static async start(plan: FleetPlan): Promise<Fleet> {
    const fleet = await Fleet.launch(plan);
    try {
      await Promise.all(fleet.gateways.map(({ url }) => ready(url)));
      return fleet;
    } catch (error) {
      const said = fleet.#processes().map(({ running, output }) => `${running ? "runs" : "ended"}: ${output.slice(-1_000)}`);
      await fleet[Symbol.asyncDispose]();
      throw new Error(`The fleet is not ready\n${said.join("\n")}`, { cause: error });
    }
  }

  /** Starts the processes without waiting. */
  static async launch(plan: FleetPlan): Promise<Fleet> {
    const dataDir = plan.dataDir ?? (await mkdtemp(join(tmpdir(), "weir-fleet-")));
    const catalogDir = plan.catalogDir ?? (await modelsAlone());
    const database = join(dataDir, "postgres");
    if (plan.services === null && plan.makesDatabase !== true && !existsSync(database)) await copyEmbeddedDatabase(database);
    const fleet = new Fleet({ ...plan, catalogDir }, dataDir);
    if (plan.services !== null) {
      for (let n = 0; n < (plan.workers ?? 1); n++) fleet.addWorker();
      for (let n = 0; n < (plan.metering ?? 1); n++) fleet.addMetering();
      for (let n = 0; n < (plan.probers ?? 0); n++) fleet.prober.push(fleet.#worker("prober"));
    }
    for (let n = 0; n < (plan.gateways ?? 1); n++) await fleet.addGateway();
    return fleet;
  }

  async addGateway(port?: number): Promise<FleetGateway> {
    const free = port ?? (await freePort());
    const metricsPort = this.#plan.metrics ? await freePort() : null;
    const ports = { PORT: String(free), ...(metricsPort !== null && { METRICS_PORT: String(metricsPort) }) };
    if (this.#plan.inTest) {
      const inTest = await GatewayInTest.start({ ...this.#environment(), ...ports });
      this.#inTest.push(inTest);
      this.gateways.push(inTest);
      return inTest;
    }
    const process = new OurProcess({ arguments: ["src/main.ts"], environment: { ...this.#environment(), ...ports } });
    const gateway = {
      url: `http://127.0.0.1:${free}`,
      port: free,
      metricsPort,
      process,
      get output() {
        return process.output;
      },
    };
    this.gateways.push(gateway);
    return gateway;
  }

  addWorker(): OurProcess {
    const worker = this.#worker("admission");
    this.workers.push(worker);
    return worker;
  }

  addMetering(): OurProcess {
    const metering = this.#worker("metering");
    this.metering.push(metering);
    return metering;
  }

  /** The control API of a gateway, as the operator calls it. */
  operator(gateway = 0): Operator {
    const { url } = this.gateways[gateway] ?? { url: "" };
    return new Operator(url, operatorToken);
  }

  url(gateway = 0): string {
    return this.gateways[gateway]?.url ?? "";
  }

  /** Resolves when a gateway reports that it is ready. */
  async ready(gateway = 0, waitMs = startMsMax): Promise<void> {
    await ready(this.url(gateway), waitMs);
  }

  /** Resolves when every gateway and every worker knows that the launch checks of these models have passed. */
  async runnable(models: string | readonly string[], waitMs = startMsMax): Promise<void> {
    await using _ = this.#plan.services !== null && this.prober.length === 0 ? await this.probing() : null;
    const all = typeof models === "string" ? [models] : models;
    const { keys } = await this.operator().customer({ credit: "1", earlyAccess: ["embeddings"] });
    const authorization = `Bearer ${keys[0]?.key ?? ""}`;
    for (const { url } of this.gateways) {
      for (const model of all) {
        await until(async () => {
          const response = await fetch(`${url}/gpt/v1/models/${model}`, { headers: { authorization } });
          return response.ok && ((await response.json()) as { runnable?: boolean }).runnable === true;
        }, waitMs);
      }
    }
    if (this.workers.length > 0) await this.#admissible(all, waitMs);
  }

  /** Runs the fleet's prober in the test's process until it is disposed of: a process of its own costs more to start than all checks. */
  async probing(): Promise<AsyncDisposable> {
    await using stack = new AsyncDisposableStack();
    const common = { config: readWorkerConfig(this.#environment()), clock: systemClock, log: silentLog };
    const backing = stack.use(await openBacking({ ...common, role: "prober" }));
    stack.use(await startProber({ ...common, backing }));
    return stack.move();
  }

  /** A gateway asks its workers in turn. A request without credit calls no provider: a worker that knows the model refuses it for that. */
  async #admissible(models: readonly string[], waitMs: number): Promise<void> {
    const { keys } = await this.operator().customer({ credit: "0.000000001" });
    for (const model of models) {
      await until(async () => {
        for (let turn = 0; turn < 2 * this.workers.length; turn++) {
          const { status } = await outcomeOf(chat({ url: this.url(), key: keys[0]?.key ?? "", body: { model } }));
          if (status >= 500) return false;
        }
        return true;
      }, waitMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes(), ...this.#inTest].map((one) => one[Symbol.asyncDispose]()));
    if (this.#plan.dataDir === undefined) await rm(this.dataDir, { recursive: true, force: true });
  }

  #processes(): OurProcess[] {
    const gateways = this.#inTest.length > 0 ? [] : this.gateways.map(({ process }) => process);
    return [...gateways, ...this.workers, ...this.metering, ...this.prober];
  }

  #worker(kind: string): OurProcess {
    return new OurProcess({ arguments: ["workers/main.ts", kind], environment: this.#environment() });
  }

  #environment(): Record<string, string> {
    return {
      DATA_DIR: this.dataDir,
      OPERATOR_TOKEN: operatorToken,
      SANDBOX: "on",
      LOG_LEVEL: "warn",
      SHUTDOWN_LEAVE_MS: "0",
      // Compiles the embedded database and the service once less: the best code pays only in a process that lives for minutes.
      BUN_JSC_useOMGJIT: "0",
      BUN_JSC_useFTLJIT: "0",
      ...(this.#plan.services === null ? {} : { ...this.#plan.services, SECRETS_KEY: secretsKeyNamed("fleet") }),
      CATALOG_DIR: this.#plan.catalogDir,
      ...this.#plan.environment,
    };
  }
}

async function ready(url: string, waitMs = startMsMax): Promise<void> {
  await until(async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200, waitMs);
}
