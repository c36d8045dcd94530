/** The service takes over published advisories itself, at the operator's request, from a local server in place of OSV's. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { systemClock } from "../../../src/kernel/clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { SyncRunner } from "../../../src/security/advisories/sync-run.ts";
import { SecurityWorld } from "../../support/security/security-world.ts";
import { advisorySyncEveryMs, advisorySyncLookMs, advisorySyncSilenceMs } from "../../../src/security/limits.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { Control, objectOf, operatorToken } from "../../support/control.ts";
import { osvRecord } from "../../support/security/advisories.ts";
import { ArchiveServer } from "../../support/security/archive-server.ts";
import { zipOf } from "../../support/security/archives.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);
let archives: ArchiveServer;
let fleet: Fleet;
beforeAll(async () => {
  archives = await ArchiveServer.start();
  const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "4.17.21" }] }];
  const record = osvRecord("CVE-2026-0001", { affected: [{ package: { ecosystem: "npm", name: "lodash" }, ranges }] });
  archives.published.set("/npm/all.zip", {
    bytes: zipOf([{ name: "CVE-2026-0001.json", text: JSON.stringify(record) }]),
    etag: '"one"',
  });
  fleet = await Fleet.start({ services: null, inTest: true, environment: { ADVISORIES_URL: archives.url } });
});
afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
  await archives[Symbol.asyncDispose]();
});

const state = async () => objectOf(await fleet.operator().call("GET", "/advisory-sync"));
const ended = async () => {
  await until(async () => (await state())["running"] === false, 50_000);
  return state();
};

test("before the first one nothing was synchronized", async () => {
  expect(await state()).toMatchObject({ running: false, started_at: null, results: [] });
});

test("a synchronization takes over the records, and projects that were not comparable are vulnerable then", async () => {
  const operator = fleet.operator();
  const component = { type: "library", name: "lodash", version: "4.17.20", purl: "pkg:npm/lodash@4.17.20" };
  const sbom = { bomFormat: "CycloneDX", specVersion: "1.6", components: [component] };
  const headers = { authorization: `Bearer ${await operator.toolsKey({ workspace: "default", owner: "owner@localhost" })}` };
  const tool = async (name: string, body: object) => {
    const options = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
    return objectOf(objectOf(await (await fetch(`${fleet.url()}/api/tools/platform_${name}`, options)).json())["data"]);
  };
  const { project_id: id } = await tool("upload_sbom", { sbom, project: "shop" });
  const project = () => tool("get_project", { project_id: id });
  await until(async () => (await project())["scan_status"] === "not_comparable");
  expect((await operator.call("GET", "/advisory-counts")) as object).toMatchObject({
    data: [{ ecosystem: "npm", records: 0, projects: 1 }],
  });

  expect(await operator.call("POST", "/advisory-sync", { ecosystems: ["npm"] })).toMatchObject({ running: true, results: [] });
  const last = await ended();
  expect(last).toMatchObject({ failure: null, results: [{ ecosystem: "npm", imported: 1, refused: 0, failure: null }] });
  await until(async () => (await project())["scan_status"] === "completed");
  expect(await project()).toMatchObject({
    vulnerability_counts: { total: 1 },
    metrics: { coverage: [{ ecosystem: "npm", not_compared: 0, stale: false }] },
  });
  expect((await operator.call("GET", "/advisory-counts")) as object).toMatchObject({
    data: [{ ecosystem: "npm", records: 1, projects: 1 }],
  });
});

test("what did not change is not downloaded again", async () => {
  await fleet.operator().call("POST", "/advisory-sync", { ecosystems: ["npm"] });
  expect(await ended()).toMatchObject({ failure: null, results: [{ ecosystem: "npm", imported: 0, failure: null }] });
  expect(archives.answered.at(-1)).toBe("/npm/all.zip 0 304");
});

test("an ecosystem that the source does not have is told with the reason, and the others are done", async () => {
  await fleet.operator().call("POST", "/advisory-sync", { ecosystems: ["PyPI", "npm"] });
  expect(await ended()).toMatchObject({
    failure: expect.stringContaining("PyPI: "),
    results: [
      { ecosystem: "PyPI", failure: expect.stringContaining("status 404") },
      { ecosystem: "npm", failure: null },
    ],
  });
});

test("EPSS and KEV are taken over too, and what is known of them stays where a later file fails", async () => {
  const operator = fleet.operator();
  const day = new Date().toISOString().slice(0, 10);
  const scores = `#model_version:v1,score_date:${day}T00:00:00+0000\ncve,epss,percentile\nCVE-2026-0001,0.5,0.9\n`;
  const catalog = { dateReleased: `${day}T00:00:00Z`, vulnerabilities: [{ cveID: "CVE-2026-0001", dateAdded: "2026-01-02" }] };
  const publish = (name: string, bytes: Uint8Array) => archives.published.set(`/${name}`, { bytes, etag: `"${bytes.length}"` });
  publish("epss_scores-current.csv.gz", gzipSync(scores));
  publish("known_exploited_vulnerabilities.json", Buffer.from(JSON.stringify(catalog)));
  const ages = async () => objectOf(await operator.call("GET", "/advisories"))["exploits"];
  expect(await ages()).toMatchObject([
    { source: "EPSS", file_date: null, updated_at: null, rows: 0 },
    { source: "KEV", file_date: null, updated_at: null, rows: 0 },
  ]);
  const sync = async () => {
    await operator.call("POST", "/advisory-sync", { ecosystems: ["EPSS", "KEV"] });
    return ended();
  };
  const result = (ecosystem: string, imported: number) => ({ ecosystem, imported, refused: 0, failure: null });
  expect(await sync()).toMatchObject({ failure: null, results: [result("EPSS", 1), result("KEV", 1)] });
  const known = [
    { source: "EPSS", file_date: day, updated_at: `${day}T00:00:00.000Z`, rows: 1, synced_at: expect.any(String) },
    { source: "KEV", file_date: day, updated_at: expect.any(String), rows: 1, synced_at: expect.any(String) },
  ];
  expect(await ages()).toMatchObject(known);

  publish("known_exploited_vulnerabilities.json", Buffer.from('{"dateReleased'));
  expect(await sync()).toMatchObject({
    failure: expect.stringContaining("KEV: The file is not CISA's catalog"),
    results: [result("EPSS", 0), { ecosystem: "KEV", failure: expect.stringContaining("not CISA's catalog in JSON") }],
  });
  expect(archives.answered.filter((line) => line.startsWith("/epss"))).toEqual([
    "/epss_scores-current.csv.gz 0 200",
    "/epss_scores-current.csv.gz 0 304",
  ]);
  expect(await ages()).toMatchObject(known);

  const batch = { date: "2020-01-01", epss: [{ cve: "CVE-2026-0002", epss: 0.1, percentile: 0.1 }], last: true };
  expect((await operator.call("POST", "/exploits", batch)) as object).toEqual({ stored: 0 });
  expect(await ages()).toMatchObject(known);
});

test.each(oneDatabase)("the operator token goes to this service, never to a proxy, on $name", async ({ open }) => {
  await using database = await open();
  await using folder = await temporaryFolder();
  const [asked, proxied]: [string[], string[]] = [[], []];
  using service = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ headers }) => told(asked, headers) });
  using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ headers }) => told(proxied, headers) });
  using runner = new SyncRunner({
    sql: database.sql,
    clock: systemClock,
    log: pino({ level: "silent" }),
    url: `http://127.0.0.1:${service.port}`,
    source: "http://127.0.0.1:9",
    outbound: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: ".example" },
    daily: false,
    operatorToken: new Secret("secret-token"),
    folder: join(folder.path, "advisories"),
    disk: { require: async () => {} },
  });
  await runner.start(["npm"]);
  await until(async () => (await runner.last())?.ended_at !== null, 30_000);
  expect([asked[0], proxied]).toEqual(["Bearer secret-token", []]);
});

function told(authorizations: string[], headers: Headers): Response {
  authorizations.push(headers.get("authorization") ?? "");
  return new Response(null, { status: 503 });
}

test.each(oneDatabase)("one runs at a time; one whose process died gives way after a minute, on $name", async ({ open }) => {
  await using database = await open();
  await using folder = await temporaryFolder();
  const disk = { require: async () => {} };
  const { sql } = database;
  const { clock } = new Control(sql);
  const parts = {
    sql,
    clock,
    log: pino({ level: "silent" }),
    url: "http://127.0.0.1:9",
    source: "http://127.0.0.1:9",
    outbound: {},
    daily: false,
  };
  using runner = new SyncRunner({ ...parts, operatorToken: new Secret("none"), folder: join(folder.path, "advisories"), disk });
  const at = new Date(clock.now());
  await sql`INSERT INTO advisory_sync_run (id, started_at, seen_at, progress) VALUES ('other', ${at}, ${at}, 'npm: 1.0 MiB')`;
  expect(runner.start(["npm"])).rejects.toThrow("a synchronization is running");
  expect(await runner.last()).toMatchObject({ ended_at: null, progress: "npm: 1.0 MiB" });
  clock.advance(advisorySyncSilenceMs + 1);
  expect(await runner.last()).toMatchObject({ ended_at: at.toISOString(), failure: "Its process ended: the next one continues" });
  await runner.start(["npm"]);
  await until(async () => (await runner.last())?.ended_at !== null, 30_000);
  expect((await runner.last())?.failure).toContain("Cannot reach Weir");
});

test.each(oneDatabase)(
  "where the operator named a source, one begins each day for what projects use, EPSS and KEV, on $name",
  async ({ open }) => {
    await using database = await open();
    await using folder = await temporaryFolder();
    const { sql } = database;
    const world = await SecurityWorld.open(database);
    const { clock } = world;
    const disk = { require: async () => {} };
    const service = new Control(sql).listen();
    const parts = {
      sql,
      clock,
      log: pino({ level: "silent" }),
      url: service.url,
      source: "http://127.0.0.1:9",
      outbound: {},
    };
    const made = {
      ...parts,
      operatorToken: new Secret(operatorToken),
      folder: join(folder.path, "advisories"),
      disk,
      daily: true,
    };
    using runner = new SyncRunner(made);
    using _other = new SyncRunner(made);
    const began = async () => (await runner.last())?.started_at ?? null;
    const ended = () => until(async () => typeof (await runner.last())?.ended_at === "string", 30_000);
    await world.upload(await world.project("shop"), ["pkg:npm/lodash@4.17.20"]);
    clock.advance(advisorySyncLookMs);
    await ended();
    const first = await began();
    expect(first).toBe(new Date(clock.now()).toISOString());
    expect((await runner.last())?.results.map(({ ecosystem }) => ecosystem)).toEqual(["npm", "EPSS", "KEV"]);
    for (let hour = 1; hour < advisorySyncEveryMs / advisorySyncLookMs; hour++) clock.advance(advisorySyncLookMs);
    expect(await began()).toBe(first);
    clock.advance(advisorySyncLookMs);
    await until(async () => (await began()) !== first, 30_000);
    await ended();
    await service.stop();
  },
);

test.each(oneDatabase)("a disk that is nearly full stops the download, which is removed, on $name", async ({ open }) => {
  await using database = await open();
  await using folder = await temporaryFolder();
  // A source that sends a part and then nothing more.
  const slow = await ArchiveServer.start();
  slow.published.set("/npm/all.zip", { bytes: new Uint8Array(100_000), etag: '"slow"' });
  slow.stopAfter = 50_000;
  const control = new Control(database.sql);
  const service = control.listen();
  let isFull = false;
  const disk = { require: () => (isFull ? Promise.reject(new Error("full")) : Promise.resolve()) };
  const path = join(folder.path, "advisories");
  const parts = { sql: database.sql, clock: systemClock, log: pino({ level: "silent" }), outbound: {}, daily: false, disk };
  using runner = new SyncRunner({
    ...parts,
    url: service.url,
    operatorToken: new Secret(operatorToken),
    source: slow.url,
    folder: path,
  });
  await runner.start(["npm"]);
  await until(() => existsSync(join(path, "npm.zip")), 30_000);
  isFull = true;
  await until(async () => (await runner.last())?.ended_at !== null, 30_000);
  expect([(await runner.last())?.failure, existsSync(path)]).toEqual([expect.stringContaining("nearly full"), false]);
  expect(runner.start(["npm"])).rejects.toThrow("full");
  await service.stop();
  await slow[Symbol.asyncDispose]();
});
