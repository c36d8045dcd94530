/** Searches for secrets in everything that a fleet stores or sends: tables, Redis, NATS and its streams, spools, logs, metrics. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "nats";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { ownServices } from "../support/servers/own-services.ts";
import {
  addSaid,
  customer,
  expectNoEcho,
  expectNoTrace,
  expectStored,
  failCheck,
  providerKeyCanary,
  type Customer,
} from "../support/privacy/privacy.ts";
import { expectKeptSealed, spreadKeptAnswers, type KeptTraffic } from "../support/privacy/kept-traffic.ts";
import { expectNoOwnKey, spreadOwnKeys, type OwnKeyTraffic } from "../support/privacy/own-key-traffic.ts";
import { embeddingModel, embeddings } from "../support/providers/embedding-answers.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { testServers } from "../support/servers/services.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { Traces } from "../support/privacy/traces.ts";

const available = (await testServers()) !== null;

describe.skipIf(!available)("a fleet", () => {
  const stack = new AsyncDisposableStack();
  const traces = new Traces();
  let off: Customer;
  let on: Customer;
  let ownKeys: OwnKeyTraffic;
  let kept: KeptTraffic;

  beforeAll(async () => {
    const services = await ownServices();
    if (services === null) throw new Error("There are no servers");
    stack.use(services);
    const { urls, folder } = services;
    await overhear(urls.NATS_URL);
    const stub = stack.use(await startProviderStub(embeddings()));
    const { path: catalog } = stack.use(await temporaryFolder());
    const { path: dataDir } = stack.use(await temporaryFolder());
    const catalogDir = await writeStubCatalog(catalog, { url: stub.url, others: [embeddingModel()] });
    const environment = { [stubKeyEnv]: providerKeyCanary, LOG_LEVEL: "trace" };
    const fleet = stack.use(
      await Fleet.start({ services: urls, gateways: 1, workers: 1, probers: 1, catalogDir, dataDir, environment }),
    );
    await fleet.runnable(["stub/model", "stub/embed"]);
    off = await customer(fleet, stub, false);
    await traces.addRedis("redis", urls.REDIS_URL);
    on = await customer(fleet, stub, true);
    for (const one of [off, on]) await expectStored(fleet, one);
    ownKeys = await spreadOwnKeys(fleet, stub);
    kept = await spreadKeptAnswers(fleet);
    await failCheck(fleet, stub, on);
    await traces.addRedis("redis", urls.REDIS_URL);
    await addSaid(traces, fleet);
    await traces.addFolder("data folder", dataDir);
    await traces.addFolder("servers", folder);
    const database = stack.use(openPostgres({ url: new Secret(urls.DATABASE_URL), applicationName: "test", clock: systemClock }));
    await traces.addTables("table", database.sql);
  }, 120_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  /** Every message over NATS, including requests and replies. */
  async function overhear(url: string): Promise<void> {
    const { username, password, host } = new URL(url);
    const connection = await connect({ servers: host, user: username, pass: password });
    stack.defer(() => connection.close());
    const subscription = connection.subscribe(">");
    void (async () => {
      for await (const { subject, data } of subscription) {
        traces.add("nats", subject);
        traces.add("nats", data);
      }
    })();
    await connection.flush();
  }

  test("the search covers tables, Redis, messages, streams, spools, logs and metrics, and finds what is stored on purpose", () => {
    expect(traces.whereIs(`findable-${off.workspace}`)).toEqual(expect.arrayContaining(["table.api_keys", "nats"]));
    expect(traces.whereIs(off.workspace)).toEqual(expect.arrayContaining(["redis", "nats", "table.generations"]));
    for (const kind of [
      /servers\/nats\/streams\/.*\.blk$/,
      /servers\/redis\/.*aof/,
      /data folder\/.*spool/,
      /^output/,
      /^metrics/,
    ]) {
      expect(traces.names.filter((name) => kind.test(name))).not.toEqual([]);
    }
  });

  test("without prompt storage a prompt and its answer are nowhere, and a key or a provider's error is never anywhere", () => {
    expectNoTrace(traces, off);
    expect(traces.whereIs(off.workspace)).not.toContain("table.data_keys");
    expect(traces.whereIs(on.workspace)).toContain("table.data_keys");
  });

  test("with prompt storage a prompt and its answer are stored only sealed, and only `prompt show` opens them", () => {
    expectNoTrace(traces, on);
  });

  test("own provider keys are stored and sent only sealed: no table, message, spool, log, metric, error or answer has one", () => {
    expectNoOwnKey(traces, ownKeys);
  });

  test("answers that are kept for repeated requests are stored only sealed, and none with zero data retention", () => {
    expectKeptSealed(traces, kept);
  });

  test("no answer to a client contains a provider's text or a wrong key", () => {
    for (const one of [off, on]) expectNoEcho(one);
  });
});
