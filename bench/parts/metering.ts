/**
 * How many settlements a second one and several metering processes book, from a stream that is full of them, and what a settlement costs:
 * CPU time, and bytes of the database and its write-ahead log.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startServices, type Services } from "../../scripts/services.ts";
import { migrate } from "../../src/backing/migrate.ts";
import { DistributedBus } from "../../src/backing/nats/bus.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { partitionOf, decodeSettled, encodeSettlement, encodeSettlements } from "../../src/gateway/journal/settlement.ts";
import { settlementBatchMax } from "../../src/gateway/limits.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { mintKey, newInternalId, newKeyId, newWorkspaceId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { emptyDatabase, storedIn } from "../data/prepare.ts";
import { insertCustomers, setHeadsToCredit, type PreparedKey, type Stored } from "../data/store.ts";
import { settlementOf } from "../micro/settle-rows.ts";
import { dataFolder } from "../paths.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import { until } from "../until.ts";

export interface MeteringPlan {
  rounds: number;
  say(line: string): void;
}

export interface MeteringMeasurement {
  /** The number of metering processes. */
  processes: number;
  perSecond: number;
  /** CPU microseconds a settlement, by process. */
  cpuMicros: Record<string, number>;
  /** Bytes a settlement. */
  stored: Stored;
}

export interface Metering {
  measurements: MeteringMeasurement[];
}

const processCounts = [1, 2];
const workspaces = 1_000;
const settlements = 200_000;
const connectedMsMax = 10_000;
const settledMsMax = 120_000;

export async function runMetering({ rounds, say }: MeteringPlan): Promise<Metering> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start the servers: ${servers.missing}`);
  const folder = join(dataFolder, "services");
  for (const name of ["nats", "redis"]) rmSync(join(folder, name), { recursive: true, force: true });
  await using services = await startServices({ servers, folder, durable: true });
  const measurements: MeteringMeasurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const count of round % 2 === 1 ? processCounts : processCounts.toReversed()) {
      const measurement = await measure(count, services);
      measurements.push(measurement);
      say(`round ${round}/${rounds}: ${lineOf(measurement)}`);
    }
  }
  return { measurements };
}

function lineOf({ processes, perSecond, cpuMicros }: MeteringMeasurement): string {
  const costs = Object.entries(cpuMicros).map(([name, micros]) => `${name} ${micros.toFixed(1)}`);
  return `${processes} processes ${Math.round(perSecond)} settled/s; CPU µs each: ${costs.join(", ")}`;
}

async function measure(count: number, services: Services): Promise<MeteringMeasurement> {
  await using stack = new AsyncDisposableStack();
  const urls = { ...services.urls, DATABASE_URL: await emptyDatabase(services.urls.DATABASE_URL, "metering") };
  const customers = await createCustomers(urls.DATABASE_URL);
  const parts = { clock: systemClock, log: silentLog };
  const bus = stack.use(new DistributedBus({ ...parts, url: new Secret(urls.NATS_URL), name: "bench" }));
  await until(() => bus.connected(), connectedMsMax);
  const waiting = await fill({ bus, customers, partitions: count });
  let first: { at: number; left: number; used: number[] } | null = null;
  const children: Child[] = [];
  const watched = (): { name: string; pid: number }[] => [...children, services.postgres, services.redis, services.nats];
  const used = (): number[] => watched().map(({ pid }) => usageOf(pid).cpuSeconds);
  using _listening = bus.listen("settled", (payload) => {
    for (const id of decodeSettled(payload)) waiting.delete(id);
    first ??= { at: performance.now(), left: waiting.size, used: used() };
  });
  const storedBefore = await storedIn(urls.DATABASE_URL);
  const environment = { ...urls, DATA_DIR: join(dataFolder, "run"), CATALOG_DIR: "catalog-data" };
  for (let number = 1; number <= count; number++) {
    const name = `metering ${number}`;
    children.push(stack.use(new Child({ name, arguments: ["workers/main.ts", "metering"], environment })));
  }
  await until(() => waiting.size === 0, settledMsMax);
  const { at, left, used: before } = first ?? { at: 0, left: 0, used: [] };
  const seconds = (performance.now() - at) / 1_000;
  const booked = left * settlementBatchMax;
  const micros = (cpuSeconds: number): number => (cpuSeconds * 1_000_000) / booked;
  const costs = used().map((after, index) => [watched()[index]?.name ?? "", micros(after - (before[index] ?? 0))] as const);
  const stored = grownBy(storedBefore, await storedIn(urls.DATABASE_URL));
  return { processes: count, perSecond: booked / seconds, cpuMicros: Object.fromEntries(costs), stored };
}

function grownBy(before: Stored, after: Stored): Stored {
  return {
    databaseBytes: (after.databaseBytes - before.databaseBytes) / settlements,
    logBytes: (after.logBytes - before.logBytes) / settlements,
  };
}

async function createCustomers(url: string): Promise<PreparedKey[]> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  await migrate(database.sql);
  const now = Date.now();
  const keys = Array.from({ length: workspaces }, (): PreparedKey => {
    const { hash, start, lastFour } = mintKey("platform");
    return { id: newKeyId(now), workspace: newWorkspaceId(now), hash, start, lastFour };
  });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await insertCustomers({ name: "metering", keys }, sql);
  await setHeadsToCredit(sql);
  await sql.end();
  return keys;
}

interface Filling {
  bus: DistributedBus;
  customers: PreparedKey[];
  partitions: number;
}

/** Stores all settlements, each event full. @returns the batches */
async function fill({ bus, customers, partitions }: Filling): Promise<Set<string>> {
  const batches = new Set<string>();
  const texts = Array.from({ length: partitions }, (): string[] => []);
  for (let number = 0; batches.size * settlementBatchMax < settlements; number++) {
    const { workspace, id } = customers[number % customers.length] ?? { workspace: "", id: "" };
    const partition = partitionOf(workspace, partitions);
    texts[partition]?.push(encodeSettlement(settlementOf(workspace, id)));
    if ((texts[partition]?.length ?? 0) < settlementBatchMax) continue;
    const batch = newInternalId(Date.now());
    batches.add(batch);
    await bus.publish("settlements", batch, encodeSettlements(batch, texts[partition]?.splice(0) ?? []), partition);
  }
  return batches;
}
