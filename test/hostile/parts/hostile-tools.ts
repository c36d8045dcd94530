/** Twenty tools keys that do what they can at once, while somebody else's chats are to be as quick as ever. */
import type { Result } from "../../../bench/load/tally.ts";
import { usageOf } from "../../../bench/processes/usage.ts";
import type { Fleet } from "../../support/fleet.ts";
import { tallied } from "./bodies.ts";
import { startGoodTraffic, suffered, told } from "./good-traffic.ts";
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
  say(`${traffic.served}: ${goodRequests} good requests/s alone`);
  const alone = await load();
  say(`and beside ${hostileWorkspaces * keysOfWorkspace} hostile tools keys of ${hostileWorkspaces} workspaces`);
  const before = memory();
  const { beside, statuses, largest } = await attacked(fleet, { load, memory });
  say(`alone:  ${told(alone)}`);
  say(`beside: ${told(beside)}`);
  for (const [name, counts] of statuses) say(`${name}: ${tallied(counts)}`);
  say(`memory of the gateway: ${before.toFixed(0)} MiB before, ${largest.toFixed(0)} at most`);
  const grown = largest - before;
  const tooMuch = `the gateway grew by ${grown.toFixed(0)} MiB, which is not below ${grownMebibytesMax}`;
  return [...suffered(beside), ...(grown < grownMebibytesMax ? [] : [tooMuch])];
}

interface Attacked {
  beside: Result;
  statuses: Map<string, Record<string, number>>;
  /** MiB. */
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
    const beside = await load();
    return { beside, statuses, largest };
  } finally {
    clearInterval(looking);
    stop.abort();
    await Promise.all(under);
  }
}

/** Each attack is made by a key of each workspace. */
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
