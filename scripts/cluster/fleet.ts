import { shutdownLeaveMsDefault } from "../../src/process/limits.ts";
import { shutdownDrainMs, shutdownFlushMs } from "../../src/server/limits.ts";
import { SupervisedProcess } from "./supervised-process.ts";
import { environmentFor } from "./role-environment.ts";
import { membersOf, rolesOf, type Sizes } from "./roles.ts";

export interface FleetPlan {
  root: string;
  sizes: Sizes;
  environment: NodeJS.ProcessEnv;
  /** The port of each process by its name, such as "gateway 1". */
  metricsPorts: ReadonlyMap<string, number>;
  say(line: string): void;
}

/** The longest that a process may take to end: open answers, those that began meanwhile, unsent settlements, and some seconds more. */
const endMsMax = 2 * shutdownDrainMs + shutdownFlushMs + 10_000;

/** All processes of a fleet. */
export class Fleet {
  readonly #groups: SupervisedProcess[][];
  readonly #stopMsMax: number;
  /** Such as "2 gateway, 2 admission, 1 metering". */
  readonly summary: string;

  constructor({ root, sizes, environment, metricsPorts, say }: FleetPlan) {
    this.#stopMsMax = Number(environment["SHUTDOWN_LEAVE_MS"] || shutdownLeaveMsDefault) + endMsMax;
    const roles = rolesOf(root);
    this.summary = roles
      .flat()
      .map((role) => `${role.count(sizes)} ${role.name}`)
      .join(", ");
    this.#groups = roles.map((group) =>
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
