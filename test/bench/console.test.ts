import { describe, expect, test } from "bun:test";
import * as generations from "../../bench/console/generations-store.ts";
import { workspaceId } from "../../bench/console/plan.ts";
import { samplesOf } from "../../bench/console/samples.ts";
import { readSampleIds, type SampleIds } from "../../bench/console/samples-store.ts";
import * as security from "../../bench/console/security-store.ts";
import { findPage } from "../../src/console/page-call.ts";
import { pages } from "../../src/console/pages.ts";
import { openEmbeddedDatabase } from "../support/servers/databases.ts";

const some = ["one", "two/three"];
const ids: SampleIds = {
  keys: some,
  generations: some,
  projects: some,
  products: some,
  findings: some,
  vulnerabilities: some,
  connections: some,
  tickets: some,
  providerKeys: some,
  topUps: some,
  alertWebhooks: some,
  alertRules: some,
  refusals: some,
};

describe("the bench of the Console", () => {
  test("every page has an address at which it is measured", () => {
    const all = [samplesOf("admin", ids), samplesOf("operator", ids)];
    expect(all.flatMap(({ missing }) => missing)).toEqual([]);
    const found = all
      .flatMap(({ samples }) => samples)
      .flatMap(({ addresses }) =>
        addresses.map((address) => findPage((address.split("?")[0] ?? "").slice("/console".length) || "/", pages)?.page),
      );
    expect(pages.filter((page) => !found.includes(page)).map(({ path }) => path)).toEqual([]);
    expect(found).not.toContain(undefined);
  });

  test("members are measured at no page of the operator", () => {
    const { samples } = samplesOf("member", ids);
    expect(samples.filter(({ name }) => name.startsWith("/operator"))).toEqual([]);
    expect(samples.length).toBeGreaterThan(3);
  });
});

test("its data fits the tables", async () => {
  await using database = await openEmbeddedDatabase();
  const { sql } = database;
  await generations.insertPeople(sql);
  const key = { id: "key-bench", workspace: workspaceId(0), hash: "ab".repeat(32), start: "platform-", lastFour: "abcd" };
  await generations.insertKeys([key], sql);
  await generations.insertCredit(sql);
  await security.insertAudit(sql);
  await security.insertConnections(["okta"], sql);
  await security.insertProviderKeys(sql);
  await security.insertPayments(sql);
  await security.insertRefusals(sql);
  await security.insertTickets(sql);
  const read = await readSampleIds(null, sql as unknown as Parameters<typeof readSampleIds>[1]);
  expect([read.connections.length, read.alertWebhooks.length, read.alertRules.length, read.refusals.length]).not.toContain(0);
});
