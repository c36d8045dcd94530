/** Twenty tools keys attack at once, while the chats of another workspace must stay fast. */
import type { Result } from "../../../bench/load/tally.ts";
import { usageOf } from "../../../bench/processes/usage.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { tallied } from "./bodies.ts";
import { startGoodTraffic, degradation, resultLine } from "./good-traffic.ts";
import type { PartOptions } from "./part.ts";
import { attacks } from "./tools-attacks.ts";

const hostileWorkspaces = 4;
const keysOfWorkspace = 5;
const mebibyte = 1024 * 1024;
const grownMebibytesMax = 1_024;

export async function hostileToolsPart({ goodRequests, seconds, say }: PartOptions): Promise<string[]> {
  await using traffic = await startGoodTraffic({ seconds });
  const { fleet } = traffic;
  const load = (): Promise<Result> => traffic.load(traffic.goodKeys, goodRequests);
  const memory = (): number => usageOf(fleet.gateways[0]?.process.pid ?? 0).residentBytes / mebibyte;
  say(`${traffic.served}: ${goodRequests} good requests/s without an attack`);
  const undisturbed = await load();
  say(`with ${hostileWorkspaces * keysOfWorkspace} hostile tools keys of ${hostileWorkspaces} workspaces`);
  const before = memory();
  const { during, statuses, largest } = await attacked(fleet, { load, memory });
  say(`without the attack: ${resultLine(undisturbed)}`);
  say(`during the attack:  ${resultLine(during)}`);
  for (const [name, counts] of statuses) say(`${name}: ${tallied(counts)}`);
  say(`memory of the gateway: ${before.toFixed(0)} MiB before, at most ${largest.toFixed(0)} during it`);
  const grown = largest - before;
  const oversized = `the gateway grew by ${grown.toFixed(0)} MiB, which is not below ${grownMebibytesMax}`;
  return [...degradation(during), ...(grown < grownMebibytesMax ? [] : [oversized])];
}

interface Attacked {
  during: Result;
  statuses: Map<string, Record<string, number>>;
  /** The highest memory, in MiB. */
  largest: number;
}

async function attacked(fleet: Fleet, { load, memory }: { load(): Promise<Result>; memory(): number }): Promise<Attacked> {
  const keys = await hostileKeys(fleet);
  const stop = new AbortController();
  const statuses = new Map<string, Record<string, number>>();
  const under = keys.map((key, index) => {
    const [name = "", attack] = Object.entries(attacks)[index % Object.keys(attacks).length] ?? [];
    const counts = statuses.get(name) ?? {};
    statuses.set(name, counts);
    const answered = (status: number): void => void (counts[status] = (counts[status] ?? 0) + 1);
    return attack?.({ port: fleet.gateways[0]?.port ?? 0, key, signal: stop.signal, answered });
  });
  let largest = 0;
  const looking = setInterval(() => (largest = Math.max(largest, memory())), 200);
  try {
    const during = await load();
    return { during, statuses, largest };
  } finally {
    clearInterval(looking);
    stop.abort();
    await Promise.all(under);
  }
}

/** Makes keys so that each workspace has one for each attack. */
async function hostileKeys(fleet: Fleet): Promise<string[]> {
  const operator = fleet.operator();
  const keys: string[] = [];
  for (let number = 0; number < hostileWorkspaces; number++) {
    const [workspace, owner] = [`hostile ${number}`, "hostile@example.test"];
    await operator.call("POST", "/workspaces", { name: workspace });
    await operator.call("POST", "/members", { workspace, email: owner, role: "member" });
    for (let key = 0; key < keysOfWorkspace; key++) {
      keys.push(await operator.toolsKey({ workspace, owner }));
    }
  }
  return keys;
}
