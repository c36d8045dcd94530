/** The service's providers by the control API: what a verb changes, in which state a provider is, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import { openServiceKey } from "../../../src/gateway/models/decisions.ts";
import type { ProviderView } from "../../../src/gateway/service-keys/schema.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { Control } from "../../support/control.ts";
import { acts, goodKey, ServiceProviders, wrongKey } from "../../support/gateway/service-providers.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { Weir } from "../../support/weir.ts";

describe.each(oneDatabase)("the service's providers on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let providers: ServiceProviders;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    providers = await ServiceProviders.in(control);
  }, 60_000);
  afterAll(async () => {
    await providers[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const list = async () => (await control.list("/providers")) as unknown as ProviderView[];
  const show = async (id: string) => (await list()).find((one) => one.id === id);
  const requested = async () => {
    const rows = await database.sql`SELECT model_id FROM launch_checks WHERE asked_at IS NOT NULL ORDER BY 1`;
    return rows.map(({ model_id: id }) => String(id));
  };
  const audits = async () => {
    const rows = await database.sql`SELECT event, target, changes FROM audit_events WHERE event LIKE 'provider.%' ORDER BY id`;
    return rows.map(({ event, target, changes }) => [event, target, changes] as [string, string, Record<string, unknown>]);
  };

  test("at first: no key, unread terms, or the checks that run by themselves; the sandbox is not among them", async () => {
    expect((await list()).map(({ id, state, key, models: count, checking }) => [id, state, key, count, checking])).toEqual([
      ["acme", "no_key", "none", 2, 0],
      ["set", "checking", "environment", 1, 1],
      ["open", "terms", "not_needed", 1, 0],
    ]);
  });

  test("a refused key is stored nowhere, costs nothing, and the message says what to do", async () => {
    const sent = { body: { key: wrongKey, ...acts } };
    const { status, body } = await control.call("PUT", "/providers/acme", sent);
    expect([status, body]).toMatchObject([400, { error: { code: "invalid_field", field: "key" } }]);
    expect(JSON.stringify(body)).toContain("Acme refused the key: check that all of it was copied");
    expect([providers.calls, await database.sql`SELECT FROM service_providers`]).toEqual([0, []] as never);
    const silent = await control.call("PUT", "/providers/set", { body: { key: wrongKey, ...acts } });
    expect([silent.status, JSON.stringify(silent.body)]).toMatchObject([503, expect.stringContaining("cannot be reached")]);
  });

  test("a key needs both acts, and a provider that the catalog has", async () => {
    const refusal = async (id: string, body: object) => (await control.call("PUT", `/providers/${id}`, { body })).body;
    expect(await refusal("acme", { key: goodKey, terms_checked: true })).toMatchObject({
      error: { field: "subprocessor_listed" },
    });
    expect(await refusal("acme", { key: goodKey, ...acts, terms_checked: false })).toMatchObject({
      error: { field: "terms_checked" },
    });
    expect(await refusal("acne", { key: goodKey, ...acts })).toMatchObject({
      error: { code: "not_found", message: 'There is no provider "acne": the nearest known one is "acme"' },
    });
    expect(await refusal("open", { key: goodKey, ...acts })).toMatchObject({ error: { code: "invalid_field", field: "key" } });
    expect(await refusal("sandbox", acts)).toMatchObject({ error: { code: "not_found" } });
  });

  test("an accepted key is stored sealed, and its models become callable as their checks pass", async () => {
    const view = await control.expect("PUT", "/providers/acme", { body: { key: goodKey, ...acts } });
    expect(view).toMatchObject({
      state: "checking",
      key: "stored",
      masked: `…${goodKey.slice(-4)}`,
      checking: 2,
      own_keys: true,
      problem: null,
    });
    expect(control.notified.count("checks-changed")).toBe(1);
    const [row] = await database.sql`SELECT sealed FROM service_providers`;
    expect(Buffer.from(row?.["sealed"]).includes(goodKey)).toBe(false);
    const provider = providers.models.catalog()?.providers.get("acme");
    expect(provider && providers.models.serviceKey(provider)?.reveal()).toBe(goodKey);
    await providers.checked("acme/one", null);
    expect(await show("acme")).toMatchObject({ state: "checking", callable: 1, checking: 1 });
    await providers.checked("acme/two", "upstream_rejected");
    expect(await show("acme")).toMatchObject({ state: "callable", callable: 1, checking: 0 });
    expect(providers.calls).toBe(0);
  });

  test("a test tells whether the key still works, and repeats only the failed checks", async () => {
    const { ok, outcome, message } = await control.expect("POST", "/providers/acme/test");
    expect([ok, outcome, message]).toEqual([true, "accepted", "Acme accepted the key"]);
    expect(await requested()).toEqual(["acme/two"]);
    const late = await control.expect("POST", "/providers/set/test");
    expect(late).toMatchObject({
      outcome: "unreachable",
      provider: { state: "checking", problem: expect.stringContaining("set.example cannot be reached") },
    });
  });

  test("a provider whose launch checks were all refused is refused, and one whose models fail otherwise fails", async () => {
    await providers.checked("set/one", "upstream_auth");
    expect((await show("set"))?.state).toBe("refused");
    await providers.checked("set/one", "upstream_rejected");
    expect((await show("set"))?.state).toBe("failing");
  });

  test("a disabled provider serves nobody and takes no own key; enabled, it serves as before", async () => {
    expect(await control.expect("POST", "/providers/acme/disable")).toMatchObject({
      state: "disabled",
      callable: 0,
      own_keys: false,
      key: "stored",
    });
    expect(
      providers.models.availability(providers.models.find("acme/one") as never, { zeroDataRetention: false, earlyAccess: [] })
        .reason,
    ).toBe("provider_disabled");
    expect(await control.expect("POST", "/providers/acme/enable")).toMatchObject({ callable: 1, own_keys: true });
  });

  test("a provider that needs no key needs the acts alone", async () => {
    expect(await control.expect("PUT", "/providers/open", { body: acts })).toMatchObject({
      state: "checking",
      key: "not_needed",
    });
  });

  test("`remove` leaves the files and the environment", async () => {
    expect(await control.expect("DELETE", "/providers/acme")).toMatchObject({ state: "no_key", key: "none" });
    expect(await control.expect("DELETE", "/providers/set")).toMatchObject({ key: "environment", terms_checked: true });
  });

  test("each change is audited once, with no more of a key than its last characters", async () => {
    const rows = await audits();
    expect(rows.map(([event, target]) => `${event} ${target}`)).toEqual([
      "provider.added acme",
      "provider.tested acme",
      "provider.tested set",
      "provider.disabled acme",
      "provider.enabled acme",
      "provider.added open",
      "provider.removed acme",
    ]);
    expect(rows[0]?.[2]).toEqual({
      masked: { from: null, to: `…${goodKey.slice(-4)}` },
      terms_checked: { from: null, to: true },
      subprocessor_listed: { from: null, to: true },
    });
    expect(JSON.stringify(rows) + control.logged.join()).not.toContain(goodKey);
  });

  test("`secrets rotate` seals stored keys again, so that the old key is no longer needed", async () => {
    await control.expect("PUT", "/providers/acme", { body: { key: goodKey, ...acts } });
    const [young, old] = [8, 7].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];
    const rotated = await new Control(database.sql, [young, old]).expect("POST", "/secrets/rotate");
    expect(rotated).toMatchObject({ rewrapped: 1, unchanged: 0 });
    const [row] = await database.sql`SELECT sealed FROM service_providers WHERE provider_id = 'acme'`;
    const opened = openServiceKey({ provider: "acme", sealed: row?.["sealed"] as Uint8Array }, new Keyring([new Secret(young)]));
    expect(opened.reveal()).toBe(goodKey);
    await providers.models.refreshChecks();
    expect(await show("acme")).toMatchObject({ state: "no_key", problem: expect.stringContaining("SECRETS_KEY does not open") });
  });

  test("a person sees states and counts alone, and changes nothing", async () => {
    await control.workspace("people");
    const as = "super_admin@people";
    const seen = await control.list("/providers", { as });
    expect(seen[1]).toMatchObject({ id: "set", key: null, key_variable: null, masked: null, problem: null, tested_at: null });
    for (const [method, path] of [
      ["PUT", "/providers/acme"],
      ["POST", "/providers/acme/test"],
      ["POST", "/providers/acme/disable"],
      ["POST", "/providers/acme/enable"],
      ["DELETE", "/providers/acme"],
    ] as const) {
      const { status } = await control.call(method, path, { as, ...(method === "PUT" && { body: { key: goodKey, ...acts } }) });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });

  test("the command line has the same verbs, and shows the list as a table", async () => {
    await using weir = new Weir(control);
    expect(await weir.json("provider", "disable", "--id", "set")).toMatchObject({ state: "disabled" });
    expect(await weir.json("provider", "enable", "--id", "set")).toMatchObject({ id: "set" });
  });
});
