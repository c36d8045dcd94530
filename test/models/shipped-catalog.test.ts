import { describe, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { availabilityOf } from "../../src/models/availability.ts";
import { readCatalog } from "../../src/models/catalog.ts";
import { modelRecord } from "../../src/models/listing.ts";
import type { ModelEntry, ProviderEntry } from "../../src/models/schema.ts";

const folder = join(import.meta.dir, "../../catalog-data");
const catalog = await readCatalog(folder, { sandbox: true });
const noAccount = { providerKey: () => null, checks: new Map(), zeroDataRetention: false };

async function entriesOf<Entry>(file: string): Promise<Entry[]> {
  return JSON.parse(await readFile(join(folder, file), "utf8"));
}

describe("the catalog that is shipped", () => {
  test("lists several models of a real provider, all provider_not_configured where there is no account", () => {
    const real = [...catalog.models.values()].filter((model) =>
      model.routes.some((route) => route.provider.format !== "sandbox"),
    );
    expect(real.length).toBeGreaterThanOrEqual(4);
    for (const model of real) expect(availabilityOf(model, noAccount).reason).toBe("provider_not_configured");
  });

  test("names the source of every real model and the day on which it was read", async () => {
    const files = (await readdir(join(folder, "models"))).filter((name) => name !== "weir.json");
    const entries = await Promise.all(files.map((name) => entriesOf<ModelEntry>(`models/${name}`)));
    for (const entry of entries.flat())
      expect([entry.id, entry.source, entry.seen]).toEqual([entry.id, expect.stringMatching(/^https:/), expect.any(String)]);
  });

  test("leaves the operator's own acts undone: terms, subprocessor list, zero data retention", async () => {
    for (const provider of await entriesOf<ProviderEntry>("providers.json")) {
      expect(provider).toMatchObject({ terms_checked: false, subprocessor_listed: false, zero_data_retention: false });
    }
  });
});

describe("the service's own lineup", () => {
  const own = [...catalog.models.values()].filter((model) => model.id.startsWith("weir/"));
  const records = own.map((model) => modelRecord(model, availabilityOf(model, noAccount), () => null));

  test("is three models plus Zero, with the specified context windows and parameters", () => {
    expect(records.map((record) => [record.context_length, record.parameters])).toEqual([
      [1_100_000, 750_000_000_000],
      [1_000_000, 70_000_000_000],
      [128_000, 15_000_000_000],
      [null, 0],
    ]);
  });

  test("Zero is priced at 0 USD", () => {
    expect(records.at(-1)?.prices_per_1m_usd).toMatchObject({ input: "0.00", output: "0.00" });
  });

  test("cannot be called yet, whatever the workspace and the keys", () => {
    for (const model of own) {
      expect(availabilityOf(model, { ...noAccount, providerKey: () => "key" })).toMatchObject({
        runnable: false,
        reason: "coming_soon",
      });
    }
  });
});
