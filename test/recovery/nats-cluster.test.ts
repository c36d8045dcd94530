/** A fleet on three NATS servers goes on when one of them is killed or cut off, and every call of a provider is charged once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { jetstreamManager, type ConsumerInfo, type JetStreamManager, type StreamInfo } from "@nats-io/jetstream";
import { connect } from "nats";
import { DistributedBus } from "../../src/backing/nats/bus.ts";
import { NatsLink } from "../../src/backing/nats/link.ts";
import { encodeSettlements } from "../../src/gateway/journal/settlement.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { chat, outcomeOf } from "../support/gateway/requests.ts";
import type { Customer } from "../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat as chatAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { startNatsCluster, type NatsCluster } from "../support/nats/nats-cluster.ts";
import { freshDatabase, temporaryFolder as processFolder, testServers, testServices } from "../support/servers/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const services = await testServices();
const servers = await testServers();
/** One output token costs a cent and input is free. */
const prices_per_1m_usd = { input: "0", output: "10000" };
const everyMs = 40;
/** The promised time from a fault until requests are answered again. */
const backMsMax = 5_000;

describe.skipIf(services === null || servers === null)("a fleet on three NATS servers", () => {
  const stack = new AsyncDisposableStack();
  let cluster: NatsCluster;
  let stub: ProviderStub;
  let fleet: Fleet;
  let customer: Customer;
  /** Calls of the provider before the customer's. */
  let others = 0;

  beforeAll(async () => {
    if (services === null || servers === null) return;
    cluster = stack.use(await startNatsCluster({ program: servers.nats, folder: await processFolder("nats-cluster") }));
    stub = stack.use(await startProviderStub(chatAnswer("Hello")));
    const folder = stack.use(await temporaryFolder());
    const catalogDir = await writeStubCatalog(folder.path, { url: stub.url, model: { prices_per_1m_usd } });
    const urls = {
      ...services.urls,
      NATS_URL: cluster.url,
      DATABASE_URL: await freshDatabase(services.urls.DATABASE_URL),
    };
    const environment = { [stubKeyEnv]: "sk-stub", LOG_LEVEL: "warn" };
    fleet = stack.use(await Fleet.launch({ metering: 0, services: urls, catalogDir, environment }));
    await storeOnOneServer();
    for (const _ of Array(2)) fleet.addMetering();
    await fleet.ready();
    await fleet.runnable("stub/model");
    customer = await fleet.operator().customer({ credit: "1000" });
    others = stub.calls.length;
  }, 90_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  /** As a fleet that knew one server leaves it. */
  async function storeOnOneServer(): Promise<void> {
    await using bus = new DistributedBus({ url: new Secret(cluster.url), name: "test", clock: systemClock, log: silentLog });
    const publish = () => bus.publish("settlements", "first", encodeSettlements("first", []));
    await until(
      () =>
        publish().then(
          () => true,
          () => false,
        ),
      30_000,
    );
  }

  async function withManager<T>(ask: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const urls = cluster.servers.map(({ url }) => new URL(url));
    const [{ username, password } = { username: "", password: "" }] = urls;
    const connection = await connect({ servers: urls.map(({ host }) => host), user: username, pass: password });
    try {
      return await ask(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  }

  const streamInfo = (): Promise<StreamInfo> => withManager((manager) => manager.streams.info("settlements"));
  const consumerInfos = (): Promise<ConsumerInfo[]> => withManager((manager) => manager.consumers.list("settlements").next());

  /**
   * The stream and its consumers, which NATS copies one after the other: one whose only server dies before is back only with that server.
   * While a leader is chosen, no server knows.
   */
  async function isStoredThrice(): Promise<boolean> {
    const infos = await Promise.all([streamInfo(), consumerInfos()]).catch(() => null);
    if (infos === null) return false;
    const [stream, consumers] = infos;
    const isCopied = ({ cluster }: StreamInfo | ConsumerInfo): boolean =>
      (cluster?.replicas ?? []).filter(({ current }) => current).length === 2;
    const isWhole = consumers.length > 0 && [stream, ...consumers].every(isCopied);
    return stream.config.num_replicas === 3 && isWhole;
  }

  /** How long gateways answered with an error while `fault` happened, and until the ledger had all again. */
  async function underLoad(fault: () => Promise<void> | void): Promise<{ backAfterMs: number; settledAfterMs: number }> {
    const running: Promise<void>[] = [];
    let faultAt = Number.POSITIVE_INFINITY;
    let lastRefusedAt = 0;
    const send = async (): Promise<void> => {
      const { status } = await outcomeOf(chat({ url: fleet.url(), key: customer.keys[0]?.key ?? "", body: { max_tokens: 1 } }));
      if (status !== 200 && performance.now() > faultAt) lastRefusedAt = performance.now();
    };
    const sending = setInterval(() => running.push(send()), everyMs);
    const answered = stub.calls.length;
    await until(() => stub.calls.length > answered + 20);
    faultAt = performance.now();
    await fault();
    // A second and a half without a refusal.
    await until(() => performance.now() - Math.max(faultAt + 500, lastRefusedAt) > 1_500, 30_000);
    clearInterval(sending);
    await Promise.all(running);
    const backAfterMs = Math.max(0, lastRefusedAt - faultAt);
    await until(async () => (await spent()) === owed(), 60_000);
    return { backAfterMs, settledAfterMs: performance.now() - faultAt };
  }

  async function spent(): Promise<string | undefined> {
    return (await fleet.operator().call<{ month_spent_usd: string }>("GET", `/workspaces/${customer.workspace}`)).month_spent_usd;
  }

  function owed(): string {
    return ((stub.calls.length - others) / 100).toFixed(9);
  }

  test("stores each settlement on all three, though the stream was made for one", async () => {
    await until(isStoredThrice, 30_000);
    expect((await streamInfo()).state.first_seq).toBe(1);
  }, 40_000);

  /** A link that has chosen the last server; each chooses by chance. */
  async function linkToLast(): Promise<NatsLink> {
    for (;;) {
      const link = new NatsLink({ url: new Secret(cluster.url), name: "test", clock: systemClock, log: silentLog });
      await until(() => link.up);
      if (link.connection.getServer() === last()) return stack.use(link);
      await link[Symbol.asyncDispose]();
    }
  }

  function last(): string {
    return new URL(cluster.servers[2].url).host;
  }

  test("leaves a server that is cut off from the others, and charges every call once", async () => {
    const link = await linkToLast();
    await until(isStoredThrice, 30_000);
    let connectAgain = (): void => {};
    const { backAfterMs, settledAfterMs } = await underLoad(() => void (connectAgain = cluster.cutLast()));
    console.log(`NATS server cut off: answers after ${ms(backAfterMs)}, all charged after ${ms(settledAfterMs)}`);
    expect(backAfterMs).toBeLessThan(backMsMax);
    expect(link.connection.getServer()).not.toBe(last());
    connectAgain();
    expect(await fleet.operator().verify()).toMatchObject({ ok: true, broken: null });
  }, 120_000);

  test("answers again within seconds of the death of the server that leads the stream, and charges every call once", async () => {
    await until(isStoredThrice, 30_000);
    const leader = (await streamInfo()).cluster?.leader ?? "";
    const server = cluster.servers[["one", "two", "last"].indexOf(leader)];
    const { backAfterMs, settledAfterMs } = await underLoad(() => server?.kill("SIGKILL"));
    console.log(`NATS leader ${leader} killed: answers after ${ms(backAfterMs)}, all charged after ${ms(settledAfterMs)}`);
    expect(backAfterMs).toBeLessThan(backMsMax);
  }, 120_000);
});

function ms(time: number): string {
  return `${Math.round(time)} ms`;
}
