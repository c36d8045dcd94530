/** The processes of a fleet. To add a kind of worker, add one line here. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface Sizes {
  gateways: number;
  workers: number;
  metering: number;
}

export interface Role {
  name: string;
  /** The arguments of Bun. The command line is exactly `bun` and these, so that operators find a process by it. */
  command: string[];
  count(sizes: Sizes): number;
  /** Whether it runs on the core of NATS and Redis, on a machine of two cores. */
  sharesCore?: true;
}

const worker = (name: string, count: Role["count"] = () => 1): Role => ({ name, command: ["workers/main.ts", name], count });

/** Groups in the order of stopping: callers stop before the workers that they call, and settlement stops last. */
const stopGroups: Role[][] = [
  [{ name: "gateway", command: ["src/main.ts"], count: ({ gateways }) => gateways }],
  [{ ...worker("admission", ({ workers }) => workers), sharesCore: true }, worker("background")],
  [worker("metering", ({ metering }) => metering)],
];

/** The roles that this version of the code contains. */
export function rolesOf(root: string): Role[][] {
  const isThere = ({ name }: Role) => name === "gateway" || existsSync(join(root, "workers/kinds", `${name}.ts`));
  return stopGroups.map((group) => group.filter(isThere));
}

/** The names of a role's processes, such as "gateway 1". */
export function membersOf(role: Role, sizes: Sizes): string[] {
  return Array.from({ length: role.count(sizes) }, (_, index) => `${role.name} ${index + 1}`);
}
