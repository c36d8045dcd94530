/** A gateway records new content at its start with the list of changes, once, and recorded versions never change. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { exportCatalog } from "../../../src/connectors/catalog/exports.ts";
import { catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { CatalogCache } from "../../../src/connectors/catalog/catalog-cache.ts";
import { connectorRoutes } from "../../../src/connectors/pages/routes.ts";
import type { Connector } from "../../../src/connectors/catalog/files/schema.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { bareConnector, filesOf, sampleConnector } from "./sample.ts";

interface Line {
  seq: number;
  id: string;
  op: string;
  version: string;
  row: unknown;
}

const acme = sampleConnector();
const bolt = bareConnector("Bolt HR");
const cell = bareConnector("Cell");

describe.each(oneDatabase)("on $name", ({ open }) => {
  let database: TestDatabase;
  let folder: TemporaryFolder;
  let clock: ManualClock;
  beforeAll(async () => {
    database = await open();
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 20, 23));
    await database.sql`TRUNCATE connector_catalogs, connector_exports, connector_changes`;
    folder = await temporaryFolder();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  async function write(connectors: Connector[]): Promise<void> {
    const { categories, grantNotes, oauthApps, connectors: files } = filesOf(connectors);
    await rm(join(folder.path, "connectors"), { recursive: true, force: true });
    await mkdir(join(folder.path, "connectors"));
    for (const { name, text } of [categories, grantNotes, oauthApps, ...files]) await writeFile(join(folder.path, name), text);
  }

  const gateway = (): CatalogCache => new CatalogCache({ sql: database.sql, folder: folder.path, clock, log: silentLog });

  async function publish(...connectors: Connector[]): Promise<CatalogCache> {
    await write(connectors);
    const catalogCache = gateway();
    await catalogCache.publish();
    return catalogCache;
  }

  async function ask(catalogCache: CatalogCache, path: string): Promise<{ status: number; text: string }> {
    const routes = connectorRoutes({ catalogCache, clock, log: silentLog });
    const response = await routes.handle(new Request(`http://localhost/api${path}`));
    return { status: response.status, text: await response.text() };
  }

  async function changes(catalogCache: CatalogCache, since: string): Promise<Line[]> {
    const { status, text } = await ask(catalogCache, `/connector-changes?since=${since}`);
    expect(status).toBe(200);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  const linesOf = (lines: Line[]): string[] => lines.map(({ seq, op, id, version }) => `${seq} ${op} ${id} ${version}`);

  test("the first catalog is the day's first version, and every connector is an addition", async () => {
    const catalogCache = await publish(acme, bolt);
    const lines = await changes(catalogCache, "0");
    expect(linesOf(lines)).toEqual(["1 added acme-directory 2026-11-20.1", "2 added bolt-hr 2026-11-20.1"]);
    expect(lines.map(({ row }) => `${JSON.stringify(row)}\n`).join("")).toBe(
      (await ask(catalogCache, "/connector-exports/latest.ndjson")).text,
    );
    expect(await changes(catalogCache, "2026-11-20.1")).toEqual([]);
  });

  test("the same content keeps its version after a restart, and with any number of gateways", async () => {
    await write([acme, bolt]);
    const gateways = Array.from({ length: 6 }, gateway);
    await Promise.all(gateways.map((catalogCache) => catalogCache.publish()));
    clock.advance(86_400_000);
    const later = await publish(acme, bolt);
    expect([...gateways, later].map(({ published }) => published?.version)).toEqual(
      Array.from({ length: 7 }, () => gateways[0]?.published?.version),
    );
    expect(await database.sql`SELECT number FROM connector_catalogs`).toHaveLength(1);
    expect(linesOf(await changes(later, "0"))).toHaveLength(2);
  });

  test("new content that several gateways start with is recorded once, without a gap in seq", async () => {
    await publish(acme, bolt);
    await write([acme, cell]);
    const gateways = Array.from({ length: 6 }, gateway);
    await Promise.all(gateways.map((catalogCache) => catalogCache.publish()));
    for (const catalogCache of gateways) {
      expect(linesOf(await changes(catalogCache, "2026-11-20.1"))).toEqual([
        "3 removed bolt-hr 2026-11-20.2",
        "4 added cell 2026-11-20.2",
      ]);
    }
  });

  test("a removed connector leaves a tombstone, and restored content is a new version", async () => {
    await publish(acme, bolt);
    await publish(acme);
    const catalogCache = await publish(acme, bolt);
    expect(linesOf(await changes(catalogCache, "2026-11-20.1"))).toEqual([
      "3 removed bolt-hr 2026-11-20.2",
      "4 added bolt-hr 2026-11-20.3",
    ]);
    expect((await changes(catalogCache, "2026-11-20.1"))[0]?.row).toBeNull();
  });

  test("version numbers restart each day", async () => {
    await publish(acme);
    clock.advance(3_600_000);
    const catalogCache = await publish(acme, bolt);
    expect(catalogCache.published?.version).toBe("2026-11-21.1");
  });

  test("a version's bytes stay the same when the catalog changes", async () => {
    const first = await publish(acme, bolt);
    const files = ["ndjson", "csv", "json"].map((format) => `/connector-exports/2026-11-20.1.${format}`);
    const before = await Promise.all(files.map((file) => ask(first, file)));
    const catalog = catalogOf(filesOf([acme, bolt]));
    expect(before.map(({ text }) => text)).toEqual(
      (["ndjson", "csv", "json"] as const).map((format) => exportCatalog(catalog, format)),
    );
    const catalogCache = await publish(acme, { ...bolt, vendor: "Bolt" });
    expect(await Promise.all(files.map((file) => ask(catalogCache, file)))).toEqual(before);
    expect((await ask(catalogCache, "/connector-exports/2026-11-20.2.csv")).text).toBe(
      (await ask(catalogCache, "/connector-exports/latest.csv")).text,
    );
  });

  test("a gateway with an older version sends no later changes during a rolling restart", async () => {
    const old = await publish(acme);
    await publish(acme, bolt);
    expect(linesOf(await changes(old, "0"))).toEqual(["1 added acme-directory 2026-11-20.1"]);
    expect(await changes(old, "2026-11-20.2")).toEqual([]);
  });

  test("a version that was never published is 400 and names the parameter", async () => {
    const catalogCache = await publish(acme);
    for (const since of ["2026-11-20.2", "2026-11-20.01", "1", "latest", "%00"]) {
      const { status, text } = await ask(catalogCache, `/connector-changes?since=${since}`);
      expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringContaining('The parameter "since" is ')]);
    }
  });

  test("files that are refused leave the last recorded catalog in place", async () => {
    await publish(acme, bolt);
    await write([acme]);
    await writeFile(join(folder.path, "connectors", "broken.json"), "{");
    const catalogCache = gateway();
    await catalogCache.publish();
    expect(catalogCache.published?.version).toBe("2026-11-20.1");
    expect(JSON.parse((await ask(catalogCache, "/connectors")).text)).toMatchObject({ total: 2, version: "2026-11-20.1" });
  });

  test("a service without connectors starts without an alarm, and refused files raise one", async () => {
    const said: unknown[] = [];
    const log = pino({}, { write: (line: string) => void said.push(JSON.parse(line)) });
    await new CatalogCache({ sql: database.sql, folder: folder.path, clock, log }).publish();
    expect(said).toEqual([expect.objectContaining({ level: 30, event: "connectors.absent" })]);
    await write([acme]);
    await writeFile(join(folder.path, "categories.json"), "{");
    await new CatalogCache({ sql: database.sql, folder: folder.path, clock, log }).publish();
    expect(said[1]).toMatchObject({
      level: 50,
      event: "connectors.unreadable",
      reason: expect.stringContaining("categories.json"),
    });
  });

  test("without any catalog the answer is 503 with the reason", async () => {
    const catalogCache = gateway();
    await catalogCache.publish();
    expect(await ask(catalogCache, "/connectors")).toEqual({
      status: 503,
      text: JSON.stringify({ detail: "There is no connector catalog yet: try again shortly" }),
    });
  });

  test("a gateway retries until its database answers", async () => {
    await write([acme]);
    const catalogCache = gateway();
    await database.sql`ALTER TABLE connector_catalogs RENAME TO elsewhere`;
    const publishing = catalogCache.publishWhenPossible(new AbortController().signal);
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(catalogCache.published).toBeNull();
    await database.sql`ALTER TABLE elsewhere RENAME TO connector_catalogs`;
    clock.advance(60_000);
    await publishing;
    expect(catalogCache.published?.version).toStartWith("2026-11-20.");
  });
});
