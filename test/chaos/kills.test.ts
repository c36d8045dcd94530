/**
 * SIGKILL of each part under load: exactly the answered calls are charged, each once, and the service is back within 5 s. And between the
 * claim of an idempotency key and its answer: the key stays taken, and its request is called and charged once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Services } from "../../scripts/services.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { Load } from "../support/gateway/load.ts";
import type { Customer, LogRow } from "../support/operator.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { outcomeOf } from "../support/gateway/requests.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { ManualStream } from "../support/providers/stub-answers.ts";
import { testServers } from "../support/servers/services.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const available = (await testServers()) !== null;

/** The stub's answer: 10 prompt tokens at 1.00 and 4 completion tokens at 2.00 USD per 1M. */
const cost = "0.000018000";

describe.skipIf(!available)("SIGKILL under load", () => {
  const stack = new AsyncDisposableStack();
  let services: Services;
  let stub: ProviderStub;
  let fleet: Fleet;

  beforeAll(async () => {
    const opened = await ownServices();
    if (opened === null) throw new Error("There are no servers");
    services = stack.use(opened);
    stub = stack.use(await startProviderStub());
    const folder = stack.use(await temporaryFolder());
    const catalogDir = await writeStubCatalog(folder.path, { url: stub.url });
    const environment = { [stubKeyEnv]: "sk-stub", LOG_LEVEL: "fatal" };
    fleet = stack.use(await Fleet.start({ gateways: 2, workers: 2, services: services.urls, catalogDir, environment }));
    await fleet.runnable("stub/model");
  }, 60_000);
  afterAll(() => stack.disposeAsync(), 30_000);

  /** Each kills its part and restarts what a supervisor would restart. */
  const victims: Record<string, () => Promise<void>> = {
    async gateway() {
      const victim = fleet.gateways[1];
      if (!victim) throw new Error("There is no second gateway");
      await victim.process.kill();
      fleet.gateways.pop();
      await fleet.addGateway(victim.port);
    },
    async worker() {
      await fleet.workers.shift()?.kill();
      fleet.addWorker();
    },
    async metering() {
      await fleet.metering.shift()?.kill();
      fleet.addMetering();
    },
    async Redis() {
      await services.redis.kill("SIGKILL");
      await services.redis.restart();
    },
    async NATS() {
      await services.nats.kill("SIGKILL");
      await services.nats.restart();
    },
    async PostgreSQL() {
      await services.postgres.kill("SIGKILL");
      await services.postgres.restart();
    },
  };

  for (const [name, killAndHeal] of Object.entries(victims)) {
    test(`after a SIGKILL of ${name} each answer is charged once, and the service is back within 5 s`, async () => {
      const customer = await fleet.operator().customer({ credit: "100", keys: 4 });
      const calls = stub.calls.length;
      const load = new Load({
        urls: fleet.gateways.map(({ url }) => url),
        keys: customer.keys.map(({ key }) => key),
        connections: 16,
      });
      await until(() => load.succeeded.length > 100);
      await killAndHeal();
      const healedAt = performance.now();
      const before = load.succeeded.length;
      await until(() => load.succeeded.length > before + 20, 5_000);
      load.ease();
      await until(() => performance.now() - healedAt > 1_000);
      await load.stop();
      await expectEachChargedOnce(customer, { calls, load, mayBeCut: name === "gateway" });
    }, 60_000);
  }

  describe("between the claim of an idempotency key and its answer", () => {
    /** A streamed request whose first piece has arrived, and a repetition of it. */
    async function begun(gateway: number) {
      const { workspace, keys } = await fleet.operator().customer({ credit: "1" });
      const provider = new ManualStream();
      stub.answerOnce(provider.answer);
      const calls = stub.calls.length;
      const ask = (at: number): Promise<Response> =>
        fetch(`${fleet.gateways[at]?.url}/gpt/v1/responses`, {
          method: "POST",
          headers: { authorization: `Bearer ${keys[0]?.key}`, "content-type": "application/json", "idempotency-key": "order-1" },
          body: JSON.stringify({ model: "stub/model", stream: true, input: "Hello" }),
        });
      const answered = ask(gateway);
      await provider.piece("Hello");
      const response = await answered;
      const reader = response.body?.getReader();
      await reader?.read();
      const again = async (at: number): Promise<string | null> => (await outcomeOf(ask(at))).code;
      return { workspace, provider, reader, again, ask, calls, generation: response.headers.get("x-generation-id") ?? "" };
    }

    /** The first was the only call, and has the only row. */
    async function expectOnce({ workspace, ask, calls, generation }: Awaited<ReturnType<typeof begun>>): Promise<LogRow> {
      for (const at of [0, 1]) expect(await outcomeOf(ask(at))).toMatchObject({ code: "idempotency_spent", generation });
      expect(stub.calls.length).toBe(calls + 1);
      const rows = await allRows(workspace);
      expect(rows.map(({ generation_id }) => generation_id)).toEqual([generation]);
      const [row] = rows;
      if (row === undefined) throw new Error("There is no row");
      expect(Number(row.cost_usd)).toBeGreaterThan(0);
      return row;
    }

    test.each(["worker", "Redis"])(
      "a SIGKILL of %s keeps the key taken until the first is answered",
      async (name) => {
        const first = await begun(0);
        await victims[name]?.();
        await until(async () => (await first.again(1)) === "idempotency_in_progress", 10_000);
        await first.provider.piece(" again");
        await first.provider.finish();
        while ((await first.reader?.read())?.done === false);
        await until(async () => (await first.again(1)) === "idempotency_spent");
        expect(await expectOnce(first)).toMatchObject({ code: null, status: 200, completion_tokens: 1 });
      },
      60_000,
    );

    test("a SIGKILL of its gateway leaves the key to the part that was delivered, which is charged", async () => {
      const first = await begun(1);
      await victims["gateway"]?.();
      const codes = new Set<string | null>();
      await until(async () => codes.add(await first.again(0)).has("idempotency_spent"), 30_000);
      codes.delete("idempotency_in_progress");
      expect([...codes]).toEqual(["idempotency_spent"]);
      await fleet.ready(1);
      expect(await expectOnce(first)).toMatchObject({ code: "internal_error", usage_estimated: true });
    }, 60_000);
  });

  async function expectEachChargedOnce(
    { workspace }: Customer,
    { calls, load, mayBeCut }: { calls: number; load: Load; mayBeCut: boolean },
  ): Promise<void> {
    await until(async () => (await fleet.operator().show(workspace)).reserved_usd === "0.000000000", 30_000);
    const answered = stub.calls.slice(calls).filter(({ state }) => state === "answered");
    const rows = await allRows(workspace);
    // A request of a killed gateway is charged for its prompt and what was delivered: less than the whole, never more.
    const cut = rows.filter(({ code, usage_estimated }) => code === "internal_error" && usage_estimated);
    expect(cut.filter(({ cost_usd }) => Number(cost_usd) <= 0 || Number(cost_usd) > Number(cost))).toEqual([]);
    const charged = rows.filter((row) => row.cost_usd !== "0.000000000" && !cut.includes(row));
    expect(new Set(charged.map(({ cost_usd }) => cost_usd))).toEqual(new Set([cost]));
    const ids = charged.map(({ generation_id }) => generation_id);
    expect(new Set(ids).size).toBe(ids.length);
    const confirmed = new Set(answered.map(({ generation }) => generation));
    expect(ids.filter((id) => !confirmed.has(id))).toEqual([]);
    expect(load.succeeded.filter((id) => !ids.includes(id))).toEqual([]);
    const unknown = rows.filter(({ provider }) => provider === "unknown");
    const ended = new Set([...ids, ...[...cut, ...unknown].map(({ generation_id }) => generation_id)]);
    expect([...confirmed].filter((id) => !ended.has(id ?? ""))).toEqual([]);
    if (!mayBeCut) expect([...cut, ...unknown]).toEqual([]);
    expect(await fleet.operator().verify()).toMatchObject({ ok: true, broken: null });
  }

  async function allRows(workspace: string): Promise<LogRow[]> {
    const rows: LogRow[] = [];
    for (let before = ""; ;) {
      const page = await fleet.operator().log(`workspace=${workspace}&limit=1000${before && `&before=${before}`}`);
      rows.push(...page);
      before = page.at(-1)?.generation_id ?? "";
      if (page.length < 1_000) return rows;
    }
  }
});
