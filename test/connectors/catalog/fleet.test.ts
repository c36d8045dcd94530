/** Gateways of a fleet that start at the same time have one catalog and send the same bytes. */
import { expect, test } from "bun:test";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { testServices } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";
import { connectorCount } from "../../support/connector-count.ts";

const services = await testServices();

test.skipIf(services === null)(
  "three gateways that start at once publish one version",
  async () => {
    const plan = { catalogDir: wholeCatalog, gateways: 3, metering: 0 };
    await using fleet = await Fleet.start({ ...plan, services: services?.urls ?? null });
    const answers = await Promise.all(
      fleet.gateways.map(async ({ url }) => {
        const path = `${url}/api/connector-exports/latest.csv`;
        await until(async () => (await fetch(path)).ok);
        const { headers } = await fetch(path);
        return [headers.get("x-catalog-version"), headers.get("content-encoding"), headers.get("etag")];
      }),
    );
    expect(answers).toEqual(Array.from({ length: 3 }, () => [expect.stringMatching(/\.1$/), "gzip", answers[0]?.[2] ?? ""]));
    const changes = await Promise.all(
      fleet.gateways.map(async ({ url }) => (await fetch(`${url}/api/connector-changes?since=0`)).text()),
    );
    expect(changes[0]?.trimEnd().split("\n")).toHaveLength(connectorCount);
    expect(new Set(changes).size).toBe(1);
  },
  60_000,
);
