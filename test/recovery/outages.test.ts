/** Weir fails closed: while a part is down, it answers with the specified 503 and calls no provider. It recovers with the part. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Services } from "../../scripts/services.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat, outcomeOf, type Outcome } from "../support/gateway/requests.ts";
import { testServers } from "../support/servers/services.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const available = (await testServers()) !== null;

describe.skipIf(!available)("while a part is down", () => {
  const stack = new AsyncDisposableStack();
  let services: Services;
  let stub: ProviderStub;
  let fleet: Fleet;
  let keys: { key: string }[];
  let nextKey = 1;

  beforeAll(async () => {
    const opened = await ownServices();
    if (opened === null) throw new Error("There are no servers");
    services = stack.use(opened);
    stub = stack.use(await startProviderStub());
    const folder = stack.use(await temporaryFolder());
    const catalogDir = await writeStubCatalog(folder.path, { url: stub.url });
    const environment = { [stubKeyEnv]: "sk-stub", LOG_LEVEL: "fatal" };
    fleet = stack.use(await Fleet.start({ gateways: 1, workers: 2, services: services.urls, catalogDir, environment }));
    await fleet.runnable("stub/model");
    keys = (await fleet.operator().customer({ credit: "10", keys: 100 })).keys;
    expect((await known()).status).toBe(200);
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  /** A request with a key that was checked within the last seconds. */
  function known(): Promise<Outcome> {
    return outcomeOf(chat({ url: fleet.url(), key: keys[0]?.key ?? "" }));
  }

  /** A request with a key that this gateway never saw. */
  function unseen(): Promise<Outcome> {
    const key = keys[nextKey++]?.key;
    if (key === undefined) throw new Error("Every key was used once");
    return outcomeOf(chat({ url: fleet.url(), key }));
  }

  const codes = (outcomes: Outcome[]): string[] => outcomes.map(({ status, code }) => `${status} ${code}`);

  /** Repeats each kind of request until it gets the specified answer, then checks that the answer stays the same, and is quick. */
  async function expectClosed(answers: { known?: string; unseen: string }): Promise<void> {
    await until(async () => codes([await unseen()])[0] === answers.unseen);
    if (answers.known !== undefined) await until(async () => codes([await known()])[0] === answers.known);
    const calls = stub.calls.length;
    const startedAt = performance.now();
    if (answers.known !== undefined) expect(codes([await known(), await known()])).toEqual([answers.known, answers.known]);
    expect(codes([await unseen()])).toEqual([answers.unseen]);
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    expect(stub.calls.length).toBe(calls);
  }

  /** A part that is back serves within five seconds. */
  async function expectBack(waitMs = 5_000): Promise<void> {
    await until(async () => (await known()).status === 200, waitMs);
  }

  test("without Redis the answer is billing_unavailable", async () => {
    await services.redis.kill("SIGKILL");
    await expectClosed({ known: "503 billing_unavailable", unseen: "503 billing_unavailable" });
    await services.redis.restart();
    await expectBack();
  }, 40_000);

  test("with a frozen Redis the answer is billing_unavailable", async () => {
    await services.redis.kill("SIGSTOP");
    await expectClosed({ known: "503 billing_unavailable", unseen: "503 billing_unavailable" });
    await services.redis.kill("SIGCONT");
    await expectBack();
  }, 40_000);

  test("without NATS the answer is auth_unavailable, or billing_unavailable for a recently checked key", async () => {
    await known();
    await services.nats.kill("SIGKILL");
    await expectClosed({ known: "503 billing_unavailable", unseen: "503 auth_unavailable" });
    await services.nats.restart();
    await expectBack();
  }, 40_000);

  test("without PostgreSQL the answer is auth_unavailable for a key that was not checked within 30 s", async () => {
    await services.postgres.kill("SIGKILL");
    await expectClosed({ unseen: "503 auth_unavailable" });
    await services.postgres.restart();
    await expectBack();
  }, 40_000);

  test("without workers the answer is auth_unavailable, or billing_unavailable for a recently checked key", async () => {
    await known();
    await Promise.all(fleet.workers.map((worker) => worker.kill()));
    await expectClosed({ known: "503 billing_unavailable", unseen: "503 auth_unavailable" });
    fleet.addWorker();
    // This worker has to start first, which can take long on a busy machine.
    await expectBack(20_000);
  }, 40_000);

  test("without Redis, GET /key answers without amounts", async () => {
    await services.redis.kill("SIGKILL");
    const authorization = `Bearer ${keys[0]?.key}`;
    const response = await fetch(`${fleet.url()}/gpt/v1/key`, { headers: { authorization } });
    const { data } = (await response.json()) as { data: Record<string, unknown> };
    expect(response.status).toBe(200);
    expect(Object.keys(data)).toEqual(["name", "prefix", "scopes", "monthly_spend_limit_usd", "rate_limit_rpm"]);
    await services.redis.restart();
    await expectBack();
  }, 40_000);

  test("charges are exact after all of these outages", async () => {
    await until(async () => (await fleet.operator().verify()).ok === true);
    expect(await fleet.operator().verify()).toMatchObject({ ok: true, broken: null });
  }, 40_000);
});

describe.skipIf(!available)("the parts start in any order", () => {
  test("gateway and workers that start first answer 503, and serve when the servers are up", async () => {
    await using stack = new AsyncDisposableStack();
    const services = await ownServices();
    if (services === null) throw new Error("There are no servers");
    stack.use(services);
    await Promise.all([services.nats.stop(), services.redis.stop(), services.postgres.stop()]);
    const fleet = stack.use(await Fleet.launch({ services: services.urls, workers: 1, environment: { LOG_LEVEL: "fatal" } }));
    await until(async () => (await fetch(`${fleet.url()}/health`).catch(() => null))?.status === 200, 20_000);
    const key = `platform-api-${"a".repeat(64)}`;
    expect(await outcomeOf(chat({ url: fleet.url(), key }))).toMatchObject({ status: 503, code: "auth_unavailable" });
    expect((await fetch(`${fleet.url()}/ready`)).status).toBe(503);
    for (const server of [services.postgres, services.nats, services.redis]) await server.restart();
    await fleet.ready(0, 20_000);
    expect(await outcomeOf(chat({ url: fleet.url(), key }))).toMatchObject({ status: 401, code: "invalid_api_key" });
  }, 60_000);
});
