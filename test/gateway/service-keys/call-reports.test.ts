/** What gateways store of how providers take the service's keys, and what the list of providers makes of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { serviceKeyReportPauseMs } from "../../../src/gateway/limits.ts";
import { UpstreamFailure } from "../../../src/gateway/providers/provider.ts";
import { ServiceKeyReports } from "../../../src/gateway/service-keys/call-reports.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import { acts, goodKey, ServiceProviders } from "../../support/gateway/service-providers.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

describe.each(oneDatabase)("reports about the service's keys on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let providers: ServiceProviders;
  let reports: ServiceKeyReports;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    providers = await ServiceProviders.in(control);
    const { sql, clock, notify } = control.parts;
    reports = new ServiceKeyReports({ sql, clock, log: silentLog, notify });
    await control.expect("PUT", "/providers/acme", { body: { key: goodKey, ...acts } });
    for (const id of ["acme/one", "acme/two"]) await providers.checked(id, null);
  }, 60_000);
  afterAll(async () => {
    await providers[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const acme = () => {
    const provider = providers.models.catalog()?.providers.get("acme");
    if (!provider) throw new Error("There is no provider");
    return provider;
  };
  const shown = async () => (await control.list("/providers")).find(({ id }) => id === "acme");
  const failure = (detail: string) => new UpstreamFailure("upstream_auth", detail);
  const reread = () => providers.models.refreshChecks();
  const stored = async (outcome: string) =>
    until(async () => (await database.sql`SELECT FROM service_providers WHERE tested = ${outcome}`).length > 0);

  test("a refusal in a call is shown with its cause, and its models can still be called", async () => {
    expect(await shown()).toMatchObject({ state: "callable", callable: 2 });
    const before = control.notified.count("checks-changed");
    reports.refused(acme(), failure("status 402: insufficient_quota"));
    await stored("no_credit");
    await until(() => control.notified.count("checks-changed") > before);
    await reread();
    expect(await shown()).toMatchObject({ state: "refused", callable: 2, problem: expect.stringContaining("no credit") });
  });

  test("an answer afterwards shows that the key works again, at most one report a minute", async () => {
    reports.accepted(acme());
    control.clock.advance(serviceKeyReportPauseMs);
    reports.accepted(acme());
    await stored("accepted");
    await reread();
    expect(await shown()).toMatchObject({ state: "callable", problem: null });
  });

  test("a call that lacked a key is no refusal by the provider", async () => {
    control.clock.advance(serviceKeyReportPauseMs);
    reports.refused(acme(), failure("there is no key for acme"));
    reports.refused(acme(), new UpstreamFailure("upstream_rate_limited", "status 429"));
    reports.accepted(acme());
    const [row] = await database.sql`SELECT tested FROM service_providers WHERE provider_id = 'acme'`;
    expect(row?.["tested"]).toBe("accepted");
  });
});
