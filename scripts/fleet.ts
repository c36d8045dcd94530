/**
 * Starts the processes of a fleet and restarts each one that dies, with a pause that grows while it keeps dying.
 *
 * It stops them in groups: the gateways first, then the workers that they call, and metering last, so that what a stopping process sends is
 * still read. `stopGroups` lists the processes of each group (add a new kind of worker there), and `role-environment.ts` the variables that
 * each one gets.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { shutdownLeaveMsDefault } from "../src/process/limits.ts";
import { shutdownDrainMs, shutdownFlushMs } from "../src/server/limits.ts";
import { environmentFor } from "./role-environment.ts";
import { isFree } from "./services/ports.ts";
import { shareCore } from "./services/share-core.ts";

interface FleetPlan {
  root: string;
  sizes: Sizes;
  environment: NodeJS.ProcessEnv;
  /** The port of each process by its name, such as "gateway 1". */
  metricsPorts: ReadonlyMap<string, number>;
  say(line: string): void;
}

/** The longest that a process may take to stop: open answers, those that began meanwhile, unsent settlements, and a few seconds more. */
const endMsMax = 2 * shutdownDrainMs + shutdownFlushMs + 10_000;

/** All processes of a fleet. */
export class Fleet {
  readonly #groups: SupervisedProcess[][];
  readonly #stopMsMax: number;
  /** Such as "2 gateway, 2 admission, 1 metering". */
  readonly summary: string;

  constructor({ root, sizes, environment, metricsPorts, say }: FleetPlan) {
    this.#stopMsMax = Number(environment["SHUTDOWN_LEAVE_MS"] || shutdownLeaveMsDefault) + endMsMax;
    this.summary = stopGroups
      .flat()
      .map((role) => `${role.count(sizes)} ${role.name}`)
      .join(", ");
    this.#groups = stopGroups.map((group) =>
      group.flatMap((role) =>
        membersOf(role, sizes).map((name) => {
          const METRICS_PORT = String(metricsPorts.get(name) ?? "");
          const own = environmentFor(role.name, { ...environment, METRICS_PORT });
          const { command, sharesCore = false } = role;
          return new SupervisedProcess({ name, command, sharesCore, cwd: root, environment: own, say });
        }),
      ),
    );
  }

  /** Stops the gateways first, then the workers that they call, and metering last. */
  async stop(): Promise<void> {
    for (const group of this.#groups) await Promise.all(group.map((process) => process.stop(this.#stopMsMax)));
  }

  kill(): void {
    for (const process of this.#groups.flat()) process.kill();
  }
}

interface ProcessPlan {
  name: string;
  /** The arguments of Bun. */
  command: string[];
  cwd: string;
  environment: NodeJS.ProcessEnv;
  /** Whether it runs on the core of NATS and Redis. */
  sharesCore: boolean;
  say(line: string): void;
}

const backOffMsMin = 200;
const backOffMsMax = 5_000;
/** A process that ran this long died for a new reason, so it restarts without a longer pause. */
const soundMs = 30_000;

/** A process that is restarted when it dies, until `stop` or `kill`. */
class SupervisedProcess {
  readonly #plan: ProcessPlan;
  #child: ChildProcess | null = null;
  #stopping = false;
  #backOffMs = backOffMsMin;
  #again: ReturnType<typeof setTimeout> | null = null;

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    this.#start();
  }

  /** Sends SIGTERM, and SIGKILL after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#again !== null) clearTimeout(this.#again);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const late = setTimeout(() => {
      this.#plan.say(`${this.#plan.name} did not end within ${limitMs / 1_000} s: killing it`);
      child.kill("SIGKILL");
    }, limitMs);
    await ended;
    clearTimeout(late);
  }

  /** Kills it without a restart. */
  kill(): void {
    this.#stopping = true;
    this.#child?.kill("SIGKILL");
  }

  #start(): void {
    const { command, cwd, environment, sharesCore } = this.#plan;
    const startedMs = performance.now();
    // Its own process group: Ctrl-C in a terminal reaches only the supervisor, which stops its processes in the right order.
    const child = spawn(process.execPath, command, {
      argv0: "bun",
      cwd,
      env: environment,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#child = child;
    if (sharesCore && child.pid !== undefined) shareCore([child.pid]);
    child.once("error", () => this.#ended(startedMs, "it did not start"));
    child.once("exit", (code, signal) => this.#ended(startedMs, signal ?? `exit code ${code}`));
  }

  #ended(startedMs: number, how: string): void {
    this.#child = null;
    if (this.#stopping) return;
    if (performance.now() - startedMs > soundMs) this.#backOffMs = backOffMsMin;
    this.#plan.say(`${this.#plan.name} ended (${how}): restarting in ${this.#backOffMs} ms`);
    this.#again = setTimeout(() => this.#start(), this.#backOffMs);
    this.#backOffMs = Math.min(this.#backOffMs * 2, backOffMsMax);
  }
}

export interface Sizes {
  gateways: number;
  workers: number;
  metering: number;
}

interface Role {
  name: string;
  /** The arguments of Bun. The command line is exactly `bun` and these, so that operators find a process by it. */
  command: string[];
  count(sizes: Sizes): number;
  /** Whether it runs on the core of NATS and Redis, on a machine of two cores. */
  sharesCore?: true;
}

const worker = (name: string, count: Role["count"] = () => 1): Role => ({ name, command: ["workers/main.ts", name], count });

/** Groups in the order of stopping: callers stop before the workers that they call, and settlement stops last. */
export const stopGroups: readonly Role[][] = [
  [{ name: "gateway", command: ["src/main.ts"], count: ({ gateways }) => gateways }],
  [{ ...worker("admission", ({ workers }) => workers), sharesCore: true }, worker("background")],
  [worker("metering", ({ metering }) => metering)],
];

/** The names of a role's processes, such as "gateway 1". */
export function membersOf(role: Role, sizes: Sizes): string[] {
  return Array.from({ length: role.count(sizes) }, (_, index) => `${role.name} ${index + 1}`);
}

const portMax = 65_535;

interface MetricsPlan {
  /** The metrics port of the first process, which is a gateway; null: no process has one. */
  first: number | null;
  host: string;
  /** The port of the API, which all gateways share. */
  port: number;
  /** Every process, in the order of their ports. */
  names: readonly string[];
}

/**
 * One port cannot serve the metrics of several processes. So each has its own, counted from the first, and keeps it across restarts.
 * @throws ClusterError naming the port that is not free
 */
export async function metricsPorts({ first, host, port, names }: MetricsPlan): Promise<Map<string, number>> {
  if (first === null) return new Map();
  const ports = new Map(names.map((name, index) => [name, first + index]));
  for (const [name, own] of ports) {
    const isUsable = own > 0 && own <= portMax && own !== port && (await isFree(own, host));
    if (!isUsable) {
      const last = first + names.length - 1;
      throw new ClusterError(
        `METRICS_PORT=${first} gives the ${names.length} processes the ports ${first} to ${last}, and ${name} cannot have ${own}: set another`,
      );
    }
  }
  return ports;
}

/** Why the fleet does not start, in one line for the operator. */
export class ClusterError extends Error {
  override name = "ClusterError";
}
