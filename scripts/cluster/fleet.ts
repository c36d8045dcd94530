import { shutdownDrainMs, shutdownFlushMs, shutdownLeaveMsDefault } from "../../src/limits/constants.ts";
import { KeptProcess } from "./kept-process.ts";
import { rolesOf, type Sizes } from "./roles.ts";

export interface FleetPlan {
  root: string;
  sizes: Sizes;
  environment: NodeJS.ProcessEnv;
  say(line: string): void;
}

/** What a process may take to end: answers that it had, those that it took meanwhile, what it owes, and some seconds for the rest. */
const endMsMax = 2 * shutdownDrainMs + shutdownFlushMs + 10_000;

/** All processes of a fleet. */
export class Fleet {
  readonly #groups: KeptProcess[][];
  readonly #stopMsMax: number;
  /** Such as "2 gateway, 2 admission, 1 metering". */
  readonly summary: string;

  constructor({ root, sizes, environment, say }: FleetPlan) {
    const metricsPorts = portsFrom(Number(environment["METRICS_PORT"] || 0));
    this.#stopMsMax = Number(environment["SHUTDOWN_LEAVE_MS"] || shutdownLeaveMsDefault) + endMsMax;
    const roles = rolesOf(root);
    this.summary = roles
      .flat()
      .map((role) => `${role.count(sizes)} ${role.name}`)
      .join(", ");
    this.#groups = roles.map((group) =>
      group.flatMap((role) =>
        Array.from({ length: role.count(sizes) }, (_, index) => {
          const METRICS_PORT = role.name === "gateway" ? "" : metricsPorts();
          const name = `${role.name} ${index + 1}`;
          const { command, sharesCore = false } = role;
          return new KeptProcess({ name, command, sharesCore, cwd: root, environment: { ...environment, METRICS_PORT }, say });
        }),
      ),
    );
  }

  /** Gateways first, then who answers them, metering last. */
  async stop(): Promise<void> {
    for (const group of this.#groups) await Promise.all(group.map((process) => process.stop(this.#stopMsMax)));
  }

  kill(): void {
    for (const process of this.#groups.flat()) process.kill();
  }
}

/** One port cannot serve the metrics of several processes: each worker gets the next. */
function portsFrom(first: number): () => string {
  let next = first;
  return () => (first === 0 ? "" : String(next++));
}
