/** The processes of a fleet. A new kind of worker is one line here. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface Sizes {
  gateways: number;
  workers: number;
}

export interface Role {
  name: string;
  /** What Bun is given: the command line is exactly `bun` and this, so that a process can be found by it. */
  command: string[];
  count(sizes: Sizes): number;
  /** Runs on one core with NATS and Redis, where there are two. */
  sharesCore?: true;
}

const worker = (name: string, count: Role["count"] = () => 1): Role => ({ name, command: ["workers/main.ts", name], count });

/** In the order of stopping, group after group: who asks stops before who answers, and what is owed is settled last. */
const stopGroups: Role[][] = [
  [{ name: "gateway", command: ["src/main.ts"], count: ({ gateways }) => gateways }],
  [{ ...worker("admission", ({ workers }) => workers), sharesCore: true }, worker("prober"), worker("mailer"), worker("scanner")],
  [worker("metering")],
];

/** The roles that this version of the code has. */
export function rolesOf(root: string): Role[][] {
  const isThere = ({ name }: Role) => name === "gateway" || existsSync(join(root, "workers", `${name}.ts`));
  return stopGroups.map((group) => group.filter(isThere));
}

/** What the processes of a role are called, such as "gateway 1". */
export function membersOf(role: Role, sizes: Sizes): string[] {
  return Array.from({ length: role.count(sizes) }, (_, index) => `${role.name} ${index + 1}`);
}
