/** Requests of a workspace with own provider keys, in one process, over real HTTP to providers. */
import { beforeAll, beforeEach, expect, test } from "bun:test";
import { chat, outcomeOf } from "../../support/gateway/requests.ts";
import { keysOf, serviceKey, sharedOwnKeyStage, type OwnKeyStage, type Tenant } from "../../support/gateway/own-key-stage.ts";
import { chat as answer, error } from "../../support/providers/stub-answers.ts";
import { until } from "../../support/until.ts";

let stage: OwnKeyStage;
beforeAll(async () => void (stage = await sharedOwnKeyStage()), 60_000);
beforeEach(() => {
  for (const stub of [stage.alpha, stage.beta, stage.lonely]) stub.answer(answer("Hello"));
});

function ask({ key }: Tenant, model: string, body: Record<string, unknown> = {}): Promise<Response> {
  return chat({ url: stage.fleet.url(), key, body: { model, ...body } });
}

async function logged({ workspace }: Tenant, count = 1): Promise<Record<string, unknown>[]> {
  const rows = () => stage.fleet.operator().log(`workspace=${workspace}`);
  await until(async () => (await rows()).length >= count);
  return (await rows()) as unknown as Record<string, unknown>[];
}

test("a request runs on the workspace's key, is billed by the provider, and leaves balance and month as they were", async () => {
  const tenant = await stage.tenant();
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0001" });
  const before = await stage.fleet.operator().show(tenant.workspace);
  for (const streamed of [false, true]) {
    const response = await ask(tenant, "stub/alpha", { stream: streamed });
    expect(response.status).toBe(200);
    await response.text();
    expect(keysOf(stage.alpha).at(-1)).toBe("sk-of-the-workspace-0001");
  }
  const rows = await logged(tenant, 2);
  for (const row of rows) expect(row).toMatchObject({ own_key: true, cost_usd: "0.000000000", reserved_usd: "0.000000000" });
  for (const row of rows) expect(Number(row["list_cost_usd"])).toBeGreaterThan(0);
  expect(await stage.fleet.operator().show(tenant.workspace)).toEqual(before);
  expect(await stage.fleet.operator().verify()).toMatchObject({ ok: true });
});

test("the provider gets the service's key for another workspace, and so do providers without an own key", async () => {
  const [tenant, other] = [await stage.tenant(), await stage.tenant()];
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0002" });
  await (await ask(other, "stub/alpha")).text();
  expect(keysOf(stage.alpha).at(-1)).toBe(serviceKey);
  expect((await logged(other))[0]).toMatchObject({ own_key: false, list_cost_usd: null });
  expect(keysOf(stage.beta)).toContain(serviceKey);
  expect(keysOf(stage.beta)).not.toContain("sk-of-the-workspace-0002");
});

test("a failing own key is never replaced by the service's key, nor by another provider on credit", async () => {
  const tenant = await stage.tenant();
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0003" });
  stage.alpha.answer(error(500));
  const [alphaCalls, betaCalls] = [stage.alpha.calls.length, stage.beta.calls.length];
  expect(await outcomeOf(ask(tenant, "stub/both"))).toMatchObject({ status: 502, code: "upstream_error" });
  expect(keysOf(stage.alpha).slice(alphaCalls)).toEqual(["sk-of-the-workspace-0003", "sk-of-the-workspace-0003"]);
  expect(stage.beta.calls.length).toBe(betaCalls);
  expect((await logged(tenant))[0]).toMatchObject({ own_key: true, reserved_usd: "0.000000000" });
});

test("with own_key_fallback another provider serves on credit after the own key, and is charged", async () => {
  const tenant = await stage.tenant();
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { own_key_fallback: true });
  await stage.store(tenant, { provider: "beta", key: "sk-of-the-workspace-0004" });
  const alphaCalls = stage.alpha.calls.length;
  await (await ask(tenant, "stub/both")).text();
  expect(keysOf(stage.beta).at(-1)).toBe("sk-of-the-workspace-0004");
  expect(stage.alpha.calls.length).toBe(alphaCalls);
  stage.beta.answer(error(401));
  const response = await ask(tenant, "stub/both");
  expect(response.status).toBe(200);
  await response.text();
  expect(keysOf(stage.alpha).at(-1)).toBe(serviceKey);
  const [second, first] = await logged(tenant, 2);
  expect(first).toMatchObject({ own_key: true, provider: "beta", cost_usd: "0.000000000" });
  expect(second).toMatchObject({ own_key: false, provider: "alpha", list_cost_usd: null });
  expect(Number(second?.["cost_usd"])).toBeGreaterThan(0);
  expect(await stage.fleet.operator().verify()).toMatchObject({ ok: true });
});

test("a key that is revoked at its provider while in use is reported, mailed once, still tried, and active after its first success", async () => {
  const tenant = await stage.tenant();
  const id = await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0005" });
  await (await ask(tenant, "stub/alpha")).text();
  stage.alpha.answer(error(401, "invalid_api_key", "sk-of-the-workspace-0005 was revoked"));
  const response = await ask(tenant, "stub/alpha");
  expect(response.status).toBe(502);
  expect(response.headers.get("x-should-retry")).toBe("false");
  const { error: shown } = (await response.json()) as { error: Record<string, unknown> };
  expect(shown).toMatchObject({ code: "upstream_auth", message: "Alpha refused the workspace's own key for alpha" });
  const state = async () => {
    const { data } = await stage.fleet
      .operator()
      .call<{ data: { id: string; state: string }[] }>("GET", `/provider-keys?workspace=${tenant.workspace}`);
    return data.find((key) => key.id === id)?.state;
  };
  await until(async () => (await state()) === "refused");
  stage.alpha.answer(answer("Hello"));
  await until(async () => {
    await (await ask(tenant, "stub/alpha")).text();
    return (await state()) === "active";
  });
  const { data } = await stage.fleet
    .operator()
    .call<{ data: { event: string; actor: string }[] }>("GET", `/audit?workspace=${tenant.workspace}`);
  const events = data.filter(({ event }) => event.startsWith("provider.key."));
  expect(events.map(({ event, actor }) => `${event} ${actor}`)).toEqual([
    "provider.key.accepted weir",
    "provider.key.refused weir",
    "provider.key.created operator",
  ]);
});

test("a refused own key raises no alarm, as the service's does, and a rate limit of an own key is answered as such", async () => {
  const [tenant, other] = [await stage.tenant(), await stage.tenant()];
  const id = await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0014" });
  const alarms = () => stage.fleet.gateways[0]?.process.output.match(/"event":"upstream\.auth"/g)?.length ?? 0;
  const before = alarms();
  stage.alpha.answer(error(401));
  expect(await outcomeOf(ask(tenant, "stub/alpha"))).toMatchObject({ status: 502, code: "upstream_auth" });
  expect(await outcomeOf(ask(other, "stub/alpha"))).toMatchObject({ status: 502, code: "upstream_auth" });
  // What a process prints arrives in its order: an alarm of the first request would be there before that of the second.
  await until(() => Promise.resolve(alarms() > before));
  expect(alarms()).toBe(before + 1);
  const calls = stage.alpha.calls.length;
  stage.alpha.answer(error(429));
  const limited = await ask(tenant, "stub/alpha");
  expect([limited.status, limited.headers.has("retry-after")]).toEqual([429, true]);
  expect(await limited.json()).toMatchObject({ error: { code: "upstream_rate_limited" } });
  expect(keysOf(stage.alpha).slice(calls)).toEqual(["sk-of-the-workspace-0014"]);
  expect((await stage.call("DELETE", `/provider-keys/${id}`)).status).toBe(200);
});

test("a replaced key serves at once while a call under way ends on the old one, and a disabled or deleted one gives way to the service's key", async () => {
  const tenant = await stage.tenant();
  const id = await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0006" });
  stage.alpha.hold();
  const calls = stage.alpha.calls.length;
  const underWay = ask(tenant, "stub/alpha");
  await stage.alpha.called(calls + 1);
  const replacing = stage.call("PUT", `/provider-keys/${id}`, { body: { key: "sk-of-the-workspace-0007" } });
  await stage.alpha.called(calls + 2);
  stage.alpha.release();
  expect((await replacing).status).toBe(200);
  expect((await underWay).status).toBe(200);
  expect(keysOf(stage.alpha).slice(calls)).toEqual(["sk-of-the-workspace-0006", "sk-of-the-workspace-0007"]);
  await (await ask(tenant, "stub/alpha")).text();
  expect(keysOf(stage.alpha).at(-1)).toBe("sk-of-the-workspace-0007");
  for (const [method, path] of [
    ["POST", `/provider-keys/${id}/disable`],
    ["DELETE", `/provider-keys/${id}`],
  ] as const) {
    expect((await stage.call(method, path)).status).toBe(200);
    await (await ask(tenant, "stub/alpha")).text();
    expect(keysOf(stage.alpha).at(-1)).toBe(serviceKey);
  }
  expect((await logged(tenant, 4)).map((row) => row["own_key"])).toEqual([false, false, true, true]);
});

test("with early access off again a stored key stays and is not used", async () => {
  const tenant = await stage.tenant();
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0008" });
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { early_access: [] });
  await (await ask(tenant, "stub/alpha")).text();
  expect(keysOf(stage.alpha).at(-1)).toBe(serviceKey);
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { early_access: ["own_keys"] });
  await (await ask(tenant, "stub/alpha")).text();
  expect(keysOf(stage.alpha).at(-1)).toBe("sk-of-the-workspace-0008");
});

test("a balance that is used up refuses, also with an own key", async () => {
  const tenant = await stage.tenant({ credit: "0.000000001" });
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0009" });
  expect(await outcomeOf(ask(tenant, "stub/alpha"))).toMatchObject({ status: 200 });
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { early_access: [] });
  expect(await outcomeOf(ask(tenant, "stub/alpha"))).toMatchObject({ status: 402, code: "insufficient_credit" });
  const empty = await stage.fleet
    .operator()
    .call<{ id: string }>("POST", "/workspaces", { name: `empty ${crypto.randomUUID()}` });
  await stage.fleet.operator().call("PATCH", `/workspaces/${empty.id}`, { early_access: ["own_keys"] });
  await stage.fleet.operator().call("POST", "/members", { workspace: empty.id, email: "owner@example.test", role: "admin" });
  const made = await stage.fleet
    .operator()
    .call<{ key: string }>("POST", "/keys", { workspace: empty.id, owner: "owner@example.test" });
  const poor = { workspace: empty.id, key: made.key };
  await stage.store(poor, { provider: "alpha", key: "sk-of-the-workspace-0010" });
  expect(await outcomeOf(ask(poor, "stub/alpha"))).toMatchObject({ status: 402, code: "insufficient_credit" });
});

test("a key's requests per minute count with an own key too", async () => {
  const tenant = await stage.tenant();
  await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0011" });
  const hasty = await stage.fleet.operator().call<{ key: string }>("POST", "/keys", {
    workspace: tenant.workspace,
    owner: "owner@example.test",
    rate_limit_rpm: 1,
  });
  const statuses = [];
  for (let n = 0; n < 2; n++) statuses.push((await outcomeOf(ask({ ...tenant, key: hasty.key }, "stub/alpha"))).status);
  expect(statuses).toEqual([200, 429]);
});

test("where the service has no key, a model is callable for the workspace alone after a launch check with its key", async () => {
  const [tenant, other] = [await stage.tenant(), await stage.tenant()];
  const runnable = async ({ key }: Tenant, model: string) => {
    const response = await fetch(`${stage.fleet.url()}/gpt/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
    const { runnable, unavailable_reason: reason } = (await response.json()) as { runnable: boolean; unavailable_reason: string };
    return runnable || reason;
  };
  expect(await runnable(tenant, "stub/cheap")).toBe("provider_not_configured");
  const id = await stage.store(tenant, { provider: "lonely", key: "sk-of-the-workspace-0012" });
  expect(stage.lonely.calls.at(-1)?.body).toMatchObject({ model: "c", max_tokens: 16 });
  expect(await runnable(tenant, "stub/cheap")).toBe(true);
  expect(await runnable(tenant, "stub/dear")).toBe("launch_check_missing");
  const calls = stage.lonely.calls.length;
  const tested = await stage.call("POST", `/provider-keys/${id}/test`);
  expect(tested.body).toMatchObject({ ok: true, state: "active" });
  expect(keysOf(stage.lonely).slice(calls)).toEqual(["sk-of-the-workspace-0012", "sk-of-the-workspace-0012"]);
  for (const { body } of stage.lonely.calls.slice(calls)) expect(body["max_tokens"]).toBe(16);
  expect(await runnable(tenant, "stub/dear")).toBe(true);
  // A failure of the provider says nothing about a model, and a rejection does.
  for (const [given, callable] of [
    [error(500), true],
    [error(404), "launch_check_missing"],
    [answer("Hello"), true],
  ] as const) {
    stage.lonely.answer(given);
    await stage.call("POST", `/provider-keys/${id}/test`, { body: { model: "stub/dear" } });
    expect(await runnable(tenant, "stub/dear")).toBe(callable);
  }
  expect(await outcomeOf(ask(tenant, "stub/dear"))).toMatchObject({ status: 200 });
  expect(await runnable(other, "stub/cheap")).toBe("provider_not_configured");
  expect(await outcomeOf(ask(other, "stub/cheap"))).toMatchObject({ status: 503, code: "model_unavailable" });
});

test("with zero data retention an own key serves only if its own record says that its account keeps nothing", async () => {
  const tenant = await stage.tenant();
  await stage.fleet.operator().call("PATCH", `/workspaces/${tenant.workspace}`, { zero_data_retention: true });
  const id = await stage.store(tenant, { provider: "alpha", key: "sk-of-the-workspace-0013" });
  const calls = stage.alpha.calls.length;
  expect(await outcomeOf(ask(tenant, "stub/alpha"))).toMatchObject({ status: 503, code: "model_unavailable" });
  expect(stage.alpha.calls.length).toBe(calls);
  await stage.call("PUT", `/provider-keys/${id}`, { body: { key: "sk-of-the-workspace-0013", zero_data_retention: true } });
  expect(await outcomeOf(ask(tenant, "stub/alpha"))).toMatchObject({ status: 200 });
});
