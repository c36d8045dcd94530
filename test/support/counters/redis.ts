import { createClient } from "redis";
import { openDistributedCounters } from "../../../src/backing/distributed/counters.ts";
import { readScripts } from "../../../src/backing/distributed/counters/scripts.ts";
import type { AdmitBatch, Counters, ResolveBatch, WorkspaceLoad } from "../../../src/backing/counters.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { tombstoneMs } from "../../../src/limits/constants.ts";
import { countedTimes, countedWorkspaces, countersStartMs, type CountersHarness, type Dump } from "./harness.ts";

/** Production's scripts, but that their clock is a key of the workspace. The first line makes Redis Cluster strict about slots. */
const scripts = readScripts("#!lua\nlocal clock = tonumber(redis.call('GET', KEYS[1] .. ':clock'))");

/** Empties the Redis at `url`, and has it to itself until disposed. */
export async function openRedisHarness(url: string): Promise<CountersHarness> {
  const client = await connectClient(url);
  const counters = await openDistributedCounters({ url: new Secret(url), clock: systemClock, log: silentLog, scripts });
  const harness = new RedisHarness(client, counters);
  await harness.wipe();
  return harness;
}

/** A plain client of a Redis. */
export async function connectClient(url: string) {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, maintNotifications: "disabled" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

export type Client = Awaited<ReturnType<typeof connectClient>>;

class RedisHarness implements CountersHarness {
  readonly counters: Counters;
  readonly #client: Client;
  /** When tombstones end by the test's clock: Redis would let them end by its own. */
  readonly #tombstones = new Map<string, number>();
  #now = countersStartMs;

  constructor(client: Client, counters: Counters) {
    this.#client = client;
    this.counters = {
      admitMany: async (batch: AdmitBatch) => (await this.#endTombstones(), counters.admitMany(batch)),
      beginLoad: (workspace) => counters.beginLoad(workspace),
      load: async (load: WorkspaceLoad) => (await this.#endTombstones(), counters.load(load)),
      resolveMany: (batch: ResolveBatch) => this.#resolve(batch, counters),
      holds: (workspace) => counters.holds(workspace),
      overdue: (workspace, limit) => counters.overdue(workspace, limit),
      read: (workspace, key) => counters.read(workspace, key),
      now: async () => this.#now,
      [Symbol.asyncDispose]: () => counters[Symbol.asyncDispose](),
    };
  }

  now(): number {
    return this.#now;
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    await Promise.all(countedWorkspaces.map((workspace) => this.#client.set(`{${workspace}}:clock`, String(this.#now))));
  }

  async wipe(): Promise<void> {
    this.#tombstones.clear();
    await this.#client.flushDb();
    await this.advance(0);
  }

  async restart(): Promise<void> {
    for (const workspace of countedWorkspaces) {
      const name = `{${workspace}}:a`;
      if (await this.#client.hExists(name, "run")) await this.#client.hSet(name, "run", earlierRun);
    }
  }

  async dump(workspace: string): Promise<Dump> {
    const [account, holds, deadlines, ...windows] = listsOf(await this.#client.eval(dumpScript, { keys: [`{${workspace}}`] }));
    const fields = recordOf(account ?? []);
    return {
      ready: fields["run"] !== undefined && fields["run"] !== earlierRun,
      account: { balance: fields["bal"] ?? "0", sequence: fields["seq"] ?? "-1", reserved: fields["resv"] ?? "0" },
      totals: totalsOf(fields),
      windows: countedTimes(
        windows.map(([key = "", ...times]) => [key, times.map(Number)]),
        this.#now,
      ),
      holds: recordOf(holds ?? []),
      deadlines: Object.fromEntries(Object.entries(recordOf(deadlines ?? [])).map(([name, value]) => [name, Number(value)])),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.counters[Symbol.asyncDispose]();
    this.#client.destroy();
  }

  async #resolve(batch: ResolveBatch, counters: Counters): Promise<bigint[]> {
    await this.#endTombstones();
    const freed = await counters.resolveMany(batch);
    const names = batch.resolve.map(({ workspace, generation }) => `{${workspace}}:t:${generation}`);
    for (const name of names) this.#tombstones.set(name, this.#now + tombstoneMs);
    await Promise.all(names.map((name) => this.#client.persist(name)));
    return freed;
  }

  async #endTombstones(): Promise<void> {
    const ended = [...this.#tombstones].filter(([, until]) => until < this.#now).map(([name]) => name);
    for (const name of ended) this.#tombstones.delete(name);
    await Promise.all(ended.map((name) => this.#client.del(name)));
  }
}

const earlierRun = "an earlier run";

const dumpScript = `
  local base = KEYS[1]
  local dump = {
    redis.call('HGETALL', base .. ':a'), redis.call('HGETALL', base .. ':r'), redis.call('ZRANGE', base .. ':x', 0, -1, 'WITHSCORES'),
  }
  for _, name in ipairs(redis.call('KEYS', base .. ':n:*')) do
    local window = redis.call('LRANGE', name, 0, -1)
    table.insert(window, 1, string.sub(name, #base + 4))
    dump[#dump + 1] = window
  end
  return dump`;

function listsOf(reply: unknown): string[][] {
  if (!Array.isArray(reply)) throw new TypeError("The dump is a list of lists");
  return reply.map((list: unknown) => (Array.isArray(list) ? list.map(String) : []));
}

function recordOf(pairs: string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let place = 0; place < pairs.length; place += 2) record[pairs[place] ?? ""] = pairs[place + 1] ?? "";
  return record;
}

/** From fields such as ks:key:2026-11 and wr:2026-11. */
function totalsOf(fields: Record<string, string>): Dump["totals"] {
  const totals: Dump["totals"] = {};
  for (const [field, value] of Object.entries(fields)) {
    const match = /^[wk]([sqr]):((?:.*:)?\d{4}-\d\d)$/.exec(field);
    if (!match?.[2]) continue;
    const name = match[2].includes(":") ? match[2] : `:${match[2]}`;
    const total = (totals[name] ??= { spent: null, version: "-1", held: "0" });
    if (match[1] === "s") total.spent = value;
    if (match[1] === "q") total.version = value;
    if (match[1] === "r") total.held = value;
  }
  return Object.fromEntries(Object.entries(totals).filter(([, { spent, held }]) => spent !== null || held !== "0"));
}
