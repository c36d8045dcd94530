/** Own provider keys and routing together, over real HTTP to providers. */
import { beforeAll, beforeEach, expect, test } from "bun:test";
import { chat } from "../../support/gateway/requests.ts";
import { keysOf, serviceKey, sharedOwnKeyStage, type OwnKeyStage, type Tenant } from "../../support/gateway/own-key-stage.ts";
import { chat as answer, error } from "../../support/providers/stub-answers.ts";
import { until } from "../../support/until.ts";

const ownKey = "sk-own-for-routed-requests";
let stage: OwnKeyStage;
let tenant: Tenant;

beforeAll(async () => void (stage = await sharedOwnKeyStage()), 60_000);
beforeEach(async () => {
  for (const stub of [stage.alpha, stage.beta, stage.lonely]) stub.answer(answer("Hello"));
  tenant = await stage.tenant({ earlyAccess: ["own_keys", "routing"] });
  await stage.store(tenant, { provider: "beta", key: ownKey });
});

interface Routed {
  status: number;
  route: string | null;
  code: string | undefined;
  message: string | undefined;
  row(): Promise<Record<string, unknown>>;
}

async function ask(fields: Record<string, unknown> = {}): Promise<Routed> {
  const body = { model: "stub/both", max_tokens: 10, ...fields };
  const response = await chat({ url: stage.fleet.url(), key: tenant.key, body });
  const { error: refused } = (await response.json()) as { error?: { code: string; message: string } };
  const generation = response.headers.get("x-generation-id");
  const rows = async () => (await stage.fleet.operator().log(`workspace=${tenant.workspace}`)) as unknown as Logged[];
  return {
    status: response.status,
    route: response.headers.get("x-route"),
    code: refused?.code,
    message: refused?.message,
    async row() {
      await until(async () => (await rows()).some((row) => row["generation_id"] === generation));
      return { ...(await rows()).find((row) => row["generation_id"] === generation) };
    },
  };
}
type Logged = Record<string, unknown>;

async function allowFallback(): Promise<void> {
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { own_key_fallback: true });
}

test("an answer on the own key says so in its route and in its log, and costs nothing", async () => {
  for (const fields of [
    {},
    { provider: { sort: "price" } },
    { model: "stub/alpha", models: ["stub/both"], provider: { only: ["beta"] } },
  ]) {
    const routed = await ask(fields);
    expect(routed).toMatchObject({ status: 200, route: "beta/stub/both; key=own" });
    expect(keysOf(stage.beta).at(-1)).toBe(ownKey);
    expect(await routed.row()).toMatchObject({
      own_key: true,
      cost_usd: "0.000000000",
      reserved_usd: "0.000000000",
      attempts: [{ provider: "beta", own_key: true, code: null }],
    });
  }
});

test("a rule for another provider spends no credit unless the workspace lets own keys fall back to it", async () => {
  const calls = stage.alpha.calls.length;
  expect(await ask({ provider: { only: ["alpha"] } })).toMatchObject({
    status: 503,
    code: "model_unavailable",
    message: expect.stringContaining("the workspace has an own key for another provider of it than the request allows"),
  });
  expect(await ask({ provider: { order: ["alpha"] } })).toMatchObject({ route: "beta/stub/both; key=own" });
  expect(stage.alpha.calls).toHaveLength(calls);
  await allowFallback();
  for (const rule of [{ only: ["alpha"] }, { order: ["alpha"] }]) {
    const routed = await ask({ provider: rule });
    expect(routed).toMatchObject({ status: 200, route: "alpha/stub/both" });
    expect(keysOf(stage.alpha).at(-1)).toBe(serviceKey);
    expect(await routed.row()).toMatchObject({ own_key: false, attempts: [{ provider: "alpha", own_key: false }] });
  }
});

test("after a refused own key another provider serves on credit, which was reserved, where the workspace allows it", async () => {
  await allowFallback();
  stage.beta.answer(error(401));
  const routed = await ask({ provider: { sort: "price" } });
  expect(routed).toMatchObject({ status: 200, route: "alpha/stub/both" });
  const row = await routed.row();
  expect(row).toMatchObject({
    own_key: false,
    attempts: [
      { provider: "beta", own_key: true, code: "upstream_auth" },
      { provider: "alpha", own_key: false, code: null },
    ],
  });
  expect(Number(row["cost_usd"])).toBeGreaterThan(0);
  expect(Number(row["reserved_usd"])).toBeGreaterThanOrEqual(Number(row["cost_usd"]));
});
