/** The testbed of every part: the three servers, a fresh copy of the prepared database, and the mock provider. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startServices } from "../../scripts/services.ts";
import { startProvider, type Provider } from "../contenders/provider.ts";
import type { Installation } from "../contenders/installation.ts";
import { sharedWeir, weir, type FleetPlan, type WeirPlan } from "../contenders/weir.ts";
import type { Contender } from "../contenders/contender.ts";
import type { Population } from "../data/plan.ts";
import { emptyDatabase, freshCopy, settleDisk, storedIn } from "../data/prepare.ts";
import type { Stored } from "../data/store.ts";
import { dataFolder } from "../paths.ts";

export interface Testbed extends AsyncDisposable {
  provider: Provider;
  /** The plan of every fleet. */
  fleet: FleetPlan;
  weir(population: Population["name"], but?: Partial<WeirPlan>): Contender;
  /** One fleet for several populations. */
  sharedWeir(populations: Population["name"][]): Installation;
  /** Creates another database on the same server. @returns its URL */
  emptyDatabase(name: string): Promise<string>;
  /** The present size of the run's database on the disk. */
  stored(): Promise<Stored>;
  /** Waits until all writes of a contender are on the disk, before the next one is measured. */
  quiet(): Promise<void>;
}

export interface TestbedPlan {
  gateways: number;
  workers: number;
  /** Prepares the run's database on the server with this URL. @returns its URL; default: two million settled generations */
  database?(url: string, say: TestbedPlan["say"]): Promise<string>;
  say(line: string): void;
}

/** @throws Error with the program to install */
export async function openTestbed({ gateways, workers, database = freshCopy, say }: TestbedPlan): Promise<Testbed> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start the servers: ${servers.missing}`);
  await using stack = new AsyncDisposableStack();
  const folder = join(dataFolder, "services");
  // Counters and streams of an earlier run belong to another copy of the database.
  for (const name of ["nats", "redis"]) rmSync(join(folder, name), { recursive: true, force: true });
  say("starting NATS, Redis and PostgreSQL");
  const services = stack.use(await startServices({ servers, folder, durable: true }));
  const databaseUrl = await database(services.urls.DATABASE_URL, say);
  const provider = stack.use(await startProvider());
  const fleet = { provider, services, databaseUrl };
  const kept = stack.move();
  return {
    provider,
    fleet,
    weir: (population, but = {}) => weir(population, { ...fleet, gateways, workers, ...but }),
    sharedWeir: (populations) => sharedWeir(populations, { ...fleet, gateways, workers }),
    emptyDatabase: (name) => emptyDatabase(services.urls.DATABASE_URL, name),
    stored: () => storedIn(databaseUrl),
    quiet: () => settleDisk(services.urls.DATABASE_URL),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
