/** Gathers the evidence of a finished run for the checkers of test/invariants. */
import { openPostgres } from "../../../../src/backing/postgres/postgres.ts";
import { openDistributedCounters } from "../../../../src/backing/redis/counters.ts";
import { loadAccount, readKeyMonth } from "../../../../src/gateway/credit/load.ts";
import { monthOf, systemClock } from "../../../../src/kernel/clock.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { Secret } from "../../../../src/kernel/secret.ts";
import { verifyLedger } from "../../../../src/gateway/metering/verify.ts";
import type { Evidence, Settled } from "../../../invariants/evidence.ts";
import { dumpRedis } from "../../../support/counters/redis.ts";
import { webhookSecret } from "../../../support/stripe/stripe-stub.ts";
import { Traces } from "../../../support/privacy/traces.ts";
import { operatorToken, providerKey, type Testbed } from "../world/testbed.ts";
import { buildHistory } from "./build-history.ts";
import { ownKeyOf } from "../load/customers.ts";
import type { RunNotes } from "./notes.ts";
import { readRows, type Stored } from "./stored.ts";

/** The longest time from a worker's decision to its gateway's call, and from a changed setting to its last reader. */
const delayMsMax = 5_000;

export async function gather(testbed: Testbed, notes: RunNotes): Promise<{ evidence: Evidence; stored: Stored }> {
  const { redis, postgres } = testbed.engines;
  const database = openPostgres({ url: new Secret(postgres.primaryUrl()), applicationName: "weir chaos", clock: systemClock });
  await using _database = database;
  const { sql } = database;
  const stored = { ...(await readRows(sql)), held: await redis.held() };
  const evidence: Evidence = {
    history: buildHistory(notes, stored),
    delayMsMax,
    stored: await verifyLedger({ sql }),
    settled: await settledOf(testbed, notes, sql),
    secrets: await secretsOf(testbed, notes),
  };
  return { evidence, stored };
}

async function settledOf(
  { engines: { redis } }: Testbed,
  { customers }: RunNotes,
  sql: Parameters<typeof loadAccount>[1],
): Promise<Settled[]> {
  const clock = systemClock;
  await using counters = await openDistributedCounters({ url: new Secret(redis.url), clock, log: silentLog });
  using client = await redis.open();
  const month = monthOf(clock.now());
  const settled: Settled[] = [];
  for (const { workspace, keys } of customers) {
    const loaded = await loadAccount({ workspace, generations: [] }, sql);
    if (loaded === null) throw new Error(`The ledger has no workspace "${workspace}"`);
    const keyMonths = await Promise.all(keys.map(({ id: key }) => readKeyMonth({ workspace, key, month }, sql)));
    const dump = await dumpRedis({ client, counters, workspace, clockMs: clock.now() });
    settled.push({ workspace, counters: dump, ...loaded, keyMonths });
  }
  return settled;
}

/** The places where a secret could be written: logs, spools, and the data of NATS and Redis. */
async function secretsOf(
  { disk, parts, engines: { nats, redis }, stripe }: Testbed,
  { customers }: RunNotes,
): Promise<Evidence["secrets"]> {
  const traces = new Traces();
  for (const part of parts.values()) traces.add(`log of ${part.name}`, part.output);
  await traces.addFolder("spools", disk.path);
  for (const folder of nats.folders) await traces.addFolder("nats", folder);
  for (const url of await redis.masters()) await traces.addRedis("redis", url);
  const keys = customers.flatMap((customer) => customer.keys.map(({ key }) => ({ name: `a key (${customer.kind})`, text: key })));
  const ownKeys = customers.flatMap(({ workspace, own, kind }) =>
    own ? { name: `an own key (${kind})`, text: ownKeyOf(workspace) } : [],
  );
  const canaries = [
    ...keys,
    ...ownKeys,
    { name: "the provider key", text: providerKey },
    { name: "the operator token", text: operatorToken },
    { name: "the key of Stripe", text: stripe.config.secretKey.reveal() },
    { name: "the secret of Stripe's webhook", text: webhookSecret },
  ];
  return { traces, canaries };
}
