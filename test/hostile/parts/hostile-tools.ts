/** Twenty tools keys that do what they can at once, while somebody else's chats are to be as quick as ever. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { instantModel, startProvider } from "../../../bench/contenders/provider.ts";
import type { Result } from "../../../bench/load/tally.ts";
import { runLoadProcess } from "../../../bench/measure/load-process.ts";
import { usageOf } from "../../../bench/processes/usage.ts";
import { Fleet } from "../../support/fleet.ts";
import { ownServices } from "../../support/own-services.ts";
import { stubKeyEnv, writeStubCatalog } from "../../support/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { tallied } from "./bodies.ts";
import type { PartOptions } from "./part.ts";
import { attacks } from "./tools-attacks.ts";
import { told } from "./wrong-keys.ts";

const goodKeys = 20;
const hostileWorkspaces = 4;
const keysOfWorkspace = 5;
const warmUpSeconds = 2;
const p99MsMax = 25;
const mebibyte = 1024 * 1024;
const grownMebibytesMax = 1_024;

export async function hostileToolsPart({ goodRequests, seconds, say }: PartOptions): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const services = await ownServices();
  if (services !== null) stack.use(services);
  const provider = stack.use(await startProvider());
  const { path } = stack.use(await temporaryFolder());
  const url = `http://127.0.0.1:${provider.port}/v1`;
  const catalogDir = await writeStubCatalog(path, { url, model: { upstream_model: instantModel, supports: [] } });
  const environment = { [stubKeyEnv]: "sk-stub" };
  const fleet = stack.use(await Fleet.start({ services: services?.urls ?? null, workers: 1, catalogDir, environment }));
  await fleet.runnable("stub/model");
  const { keys } = await fleet.operator().customer({ credit: "1000", keys: goodKeys });
  const file = join(path, "good-keys");
  await writeFile(file, keys.map(({ key }) => key).join("\n"));
  const target = ["--url", fleet.url(), "--model", "stub/model", "--max-tokens", "16", "--keys", file];
  const times = ["--rate", String(goodRequests), "--seconds", String(seconds), "--warm-up", String(warmUpSeconds)];
  const load = async (): Promise<Result> => (await runLoadProcess([...target, ...times])).result;
  await runLoadProcess([...target, "--connections", "32", "--seconds", "5", "--warm-up", "0"]);
  const memory = (): number => usageOf(fleet.gateways[0]?.process.pid ?? 0).residentBytes / mebibyte;
  say(`${services === null ? "one process" : "a fleet with one gateway and one worker"}: ${goodRequests} good requests/s alone`);
  const alone = await load();
  say(`and beside ${hostileWorkspaces * keysOfWorkspace} hostile tools keys of ${hostileWorkspaces} workspaces`);
  const before = memory();
  const { beside, statuses, largest } = await attacked(fleet, { load, memory });
  say(`alone:  ${told(alone)}`);
  say(`beside: ${told(beside)}`);
  for (const [name, counts] of statuses) say(`${name}: ${tallied(counts)}`);
  say(`memory of the gateway: ${before.toFixed(0)} MiB before, ${largest.toFixed(0)} at most`);
  return judged(beside, largest - before);
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
      keys.push((await operator.call<{ key: string }>("POST", "/keys", { workspace, owner, kind: "tools" })).key);
    }
  }
  return keys;
}

function judged(beside: Result, grown: number): string[] {
  const p99 = beside.latencyMs?.p99 ?? Infinity;
  return [
    ...(p99 < p99MsMax ? [] : [`good requests had a p99 of ${p99.toFixed(1)} ms, which is not below ${p99MsMax}`]),
    ...(beside.failedInAll === 0 ? [] : [`${beside.failedInAll} good requests failed`]),
    ...(grown < grownMebibytesMax
      ? []
      : [`the gateway grew by ${grown.toFixed(0)} MiB, which is not below ${grownMebibytesMax}`]),
  ];
}
