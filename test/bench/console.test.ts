import { describe, expect, test } from "bun:test";
import { samplesOf } from "../../bench/console/samples.ts";
import type { SampleIds } from "../../bench/console/samples-store.ts";
import { findPage } from "../../src/console/page-call.ts";
import { pages } from "../../src/console/pages.ts";

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
