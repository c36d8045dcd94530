import { createClient } from "redis";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { readFunctions } from "../../../src/backing/redis/functions.ts";
import type { Counters } from "../../../src/backing/counters.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { countedTimes, countedWorkspaces, countersStartMs, holdText, type CountersHarness, type Dump } from "./harness.ts";

/** The functions of production with another clock: a key of the workspace, which is the only key or the first text. */
const functions = readFunctions(`local function now(keys, args)
  return tonumber(redis.call('GET', (keys[1] or string.match(args[1], '^%Z+')) .. ':clock'))
end`);

/** What a harness asks of a Redis, or of all masters of a cluster. */
export interface StoreClient {
  set(key: string, value: string): Promise<unknown>;
  eval(script: string, options: { keys: string[] }): Promise<unknown>;
  flushDb(): Promise<unknown>;
}

/** Empties the Redis at `url`; no other test may use it until disposed. */
export async function openRedisHarness(url: string): Promise<CountersHarness> {
  const client = await connectClient(url);
  return openHarness({ url, store: client, close: () => client.destroy() });
}

/** Empties the Redis or the cluster of `store`, which is at `url`. @param close called in the end */
export async function openHarness({ url, store, close }: HarnessParts): Promise<CountersHarness> {
  const counters = await openDistributedCounters({ url: new Secret(url), clock: systemClock, log: silentLog, functions });
  const harness = new RedisHarness({ store, close, counters });
  await harness.wipe();
  return harness;
}

interface HarnessParts {
  url: string;
  store: StoreClient;
  close(): void;
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
  readonly #store: StoreClient;
  readonly #close: () => void;
  #now = countersStartMs;

  constructor({ store, close, counters }: { store: StoreClient; close(): void; counters: Counters }) {
    this.#store = store;
    this.#close = close;
    this.counters = {
      admitMany: (batch) => counters.admitMany(batch),
      beginLoad: (workspace) => counters.beginLoad(workspace),
      load: (load) => counters.load(load),
      forget: (...args) => counters.forget(...args),
      resolveMany: (batch) => counters.resolveMany(batch),
      lend: (request) => counters.lend(request),
      takeBack: (back) => counters.takeBack(back),
      holds: (workspace) => counters.holds(workspace),
      overdue: (workspace, limit) => counters.overdue(workspace, limit),
      read: (workspace, key, blocks) => counters.read(workspace, key, blocks),
      now: async () => this.#now,
      [Symbol.asyncDispose]: () => counters[Symbol.asyncDispose](),
    };
  }

  now(): number {
    return this.#now;
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    await Promise.all(countedWorkspaces.map((workspace) => this.#store.set(`{${workspace}}:clock`, String(this.#now))));
  }

  async wipe(): Promise<void> {
    await this.#store.flushDb();
    await this.advance(0);
  }

  async restart(): Promise<void> {
    const keys = countedWorkspaces.map((workspace) => `{${workspace}}`);
    for (const key of keys) await this.#store.eval(restartScript, { keys: [key] });
  }

  dump(workspace: string): Promise<Dump> {
    return dumpRedis({ client: this.#store, counters: this.counters, workspace, clockMs: this.#now });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.counters[Symbol.asyncDispose]();
    this.#close();
  }
}

/** The state of a workspace in Redis. @param clockMs its clock */
export async function dumpRedis({
  client,
  counters,
  workspace,
  clockMs,
}: {
  client: Pick<StoreClient, "eval">;
  counters: Pick<Counters, "holds">;
  workspace: string;
  clockMs: number;
}): Promise<Dump> {
  const [head = [], totals = [], ...windows] = listsOf(await client.eval(dumpScript, { keys: [`{${workspace}}`] }));
  const [run = "0", balance = "0", sequence = "-1", reserved = "0"] = head;
  const holds = await counters.holds(workspace);
  return {
    ready: run !== "0",
    account: { balance, sequence, reserved },
    totals: totalsOf(totals),
    windows: countedTimes(
      windows.map(([key = "", ...times]) => [key, times.map(Number)]),
      clockMs,
    ),
    holds: Object.fromEntries(holds.map((hold) => [hold.generation, holdText(hold)])),
    deadlines: Object.fromEntries(holds.map((hold) => [hold.generation, hold.deadline])),
  };
}

/** The counts belong to another run. */
const restartScript = `
  local head = redis.call('HGET', KEYS[1] .. ':a', 'head')
  if head then redis.call('HSET', KEYS[1] .. ':a', 'head', struct.pack('<d', 0) .. string.sub(head, 9)) end`;

/** Run, balance, sequence and holds; (month or key and month or budget, spent, version, held); for each key its name and times. */
const dumpScript = `
  local base, head, totals = KEYS[1], {}, {}
  local function texts(...)
    local told = {}
    for place = 1, select('#', ...) - 1 do told[place] = string.format('%.0f', (select(place, ...))) end
    return told
  end
  local known = redis.call('HGETALL', base .. ':a')
  for place = 1, #known, 2 do
    local field, value = known[place], known[place + 1]
    if field == 'head' then head = texts(struct.unpack('<dddd', value)) end
    if string.match(field, '^[mk]:') then
      totals[#totals + 1] = field
      for _, word in ipairs(texts(struct.unpack('<ddd', value))) do totals[#totals + 1] = word end
    end
    if string.match(field, '^b:') then
      local spent, version, held, since = unpack(texts(struct.unpack('<dddd', value)))
      for _, word in ipairs({ field .. '@' .. since, spent, version, held }) do totals[#totals + 1] = word end
    end
  end
  local dump = { head, totals }
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

/** From fields such as k:key:2026-11 and m:2026-11, each with its three numbers. */
function totalsOf(words: string[]): Dump["totals"] {
  const totals: Dump["totals"] = {};
  for (let place = 0; place < words.length; place += 4) {
    const [field = "", spent = "", version = "", held = ""] = words.slice(place, place + 4);
    if (version === "-1" && held === "0") continue;
    const name = /^[kb]:/.test(field) ? field.slice(2) : field.slice(1);
    totals[name] = { spent: version === "-1" ? null : spent, version, held };
  }
  return totals;
}
