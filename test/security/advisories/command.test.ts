/** `weir advisories import`, and its endpoint. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupAliases } from "../../../src/security/advisories/alias-groups.ts";
import { readArchive } from "../../support/security/advisories.ts";
import { about, AdvisoryStore } from "../../support/security/advisory-store.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { testData } from "../../support/test-data.ts";
import { Weir } from "../../support/weir.ts";

describe.each(databases)("importing advisories on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let control: Control;
  let weir: Weir;
  let store: AdvisoryStore;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    weir = new Weir(control);
    await control.workspace("w");
  }, 60_000);
  afterAll(async () => {
    await weir[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await database.sql`TRUNCATE packages, advisories, vulnerabilities CASCADE`;
    store = new AdvisoryStore(database.sql);
  });
  const fileOf = async (content: string, name = "all.json") => {
    const path = join(await temporaryFolder("advisories"), name);
    writeFileSync(path, content);
    return path;
  };
  const importing = async (...words: string[]) => {
    const { code, out, error } = await weir.run("advisories", "import", ...words, "--json");
    return { code, body: JSON.parse(out), error };
  };

  test("the command counts imported, unchanged and failed records, and names each failed one", async () => {
    const path = await fileOf(JSON.stringify([about("OSV-1"), { id: "OSV-2" }, about("OSV-3")]));
    const failure = { record: "all.json[1]", reason: expect.stringContaining('"modified" is missing') };
    const first = await importing(path);
    expect([first.code, first.body]).toEqual([0, { read: 3, imported: 2, unchanged: 0, failed: 1, failures: [failure] }]);
    expect(first.error).toContain('all.json[1]: "modified" is missing');
    expect((await importing(path)).body).toMatchObject({ read: 3, imported: 0, unchanged: 2, failed: 1 });
    expect(await store.groups()).toEqual(["OSV-1", "OSV-3"]);
  });

  if (!runsAll) return;

  test("the command exits with 1 when no record can be read", async () => {
    const { code, body, error } = await importing(await fileOf("[1, 2]"));
    expect([code, body["read"], body["failed"]]).toEqual([1, 2, 2]);
    expect(error).toContain("No record could be read");
    const missing = await weir.run("advisories", "import", "/does/not/exist");
    expect([missing.code, missing.error]).toEqual([1, 'weir: Cannot read "/does/not/exist": there is no such file\n']);
  });

  test("the command resumes after a given position, and refuses an unknown one", async () => {
    const path = await fileOf(JSON.stringify([about("OSV-1"), about("OSV-2"), about("OSV-3")]));
    expect((await importing(path, "--after", "all.json#1")).body).toMatchObject({ read: 1, imported: 1 });
    expect(await store.groups()).toEqual(["OSV-3"]);
    expect(await weir.run("advisories", "import", path, "--after", "all.json")).toMatchObject({ code: 2 });
    expect(await weir.run("advisories", "import", path, "--after", "other.json#1")).toMatchObject({ code: 2 });
  });

  test("the command sends several batches and shows the progress", async () => {
    const records = Array.from({ length: 450 }, (_, index) => about(`OSV-${index}`, { name: `package-${index % 9}` }));
    const { body } = await importing(await fileOf(records.map((record) => JSON.stringify(record)).join("\n"), "all.ndjson"));
    expect(body).toMatchObject({ read: 450, imported: 450, failures: [] });
  });

  test("an interrupted import prints the position to resume from", async () => {
    const records = Array.from({ length: 450 }, (_, index) => about(`OSV-${index}`));
    const path = await fileOf(JSON.stringify(records));
    await database.sql`ALTER TABLE advisories ADD CONSTRAINT not_this_one CHECK (id <> 'OSV-420')`;
    const broken = await weir.run("advisories", "import", path);
    await database.sql`ALTER TABLE advisories DROP CONSTRAINT not_this_one`;
    expect([broken.code, broken.out]).toEqual([1, ""]);
    const [, cursor = ""] = /--after '([^']+)'/.exec(broken.error) ?? [];
    expect(cursor).toBe("all.json#399");
    expect((await importing(path, "--after", cursor)).body).toMatchObject({ read: 50, imported: 50 });
    expect((await store.issues()).length).toBe(450);
  });

  test("only the operator can import advisories", async () => {
    const body = { records: [] };
    expect(await control.refusal("POST", "/advisories", { body, as: "super_admin@w" })).toBe("403 forbidden X-Act-As");
    expect(await control.refusal("POST", "/advisories", { body, token: "wrong" })).toStartWith("401");
  });

  test("the service validates batches again", async () => {
    const send = (body: unknown) => control.refusal("POST", "/advisories", { body });
    expect(await send({})).toBe("400 invalid_field records");
    expect(await send({ records: null })).toBe("400 invalid_field records");
    expect(await send({ records: {} })).toBe("400 invalid_field records");
    expect(await send({ records: Array.from({ length: 201 }, () => about("OSV-1")) })).toBe("400 invalid_field records");
    expect(await send({ records: [], more: 1 })).toBe("400 invalid_field more");
    const deep = `{"records":[{"id":"OSV-1","modified":"2026-01-01T00:00:00Z","a":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`;
    const { status, body } = await control.call("POST", "/advisories", { body: deep });
    expect([status, body]).toMatchObject([200, { imported: 0, failures: [{ index: 0 }] }]);
    const large = JSON.stringify({ records: ["x".repeat(12 * 1024 * 1024)] });
    expect(await control.refusal("POST", "/advisories", { body: large })).toStartWith("413");
  });

  const pypa = testData("pypa-advisories-a-to-m.tar.gz");
  test.skipIf(pypa === null)(
    "one command imports all 983 Python advisories, grouped by their aliases (WEIR_TEST_DATA)",
    async () => {
      const path = pypa ?? "";
      expect((await importing(path)).body).toEqual({ read: 983, imported: 983, unchanged: 0, failed: 0, failures: [] });
      const readings = await readArchive(path);
      const groups = groupAliases(readings.flatMap((reading) => ("advisory" in reading ? [reading.advisory] : [])));
      const expected = groups.map(({ ids, shared }) => [...ids, ...shared.map((name) => `(${name})`)].join(" "));
      expect((await store.groups()).toSorted()).toEqual(expected.toSorted());
      expect((await importing(path)).body).toMatchObject({ imported: 0, unchanged: 983 });
    },
    30_000,
  );

  const golang = testData("golang-vulndb-osv.tar.gz");
  test.skipIf(golang === null)(
    "an issue of four CVEs stays four among 1,000 Go advisories (WEIR_TEST_DATA)",
    async () => {
      const readings = await readArchive(golang ?? "");
      const records = readings.flatMap((reading) => ("advisory" in reading ? [reading.raw] : [])).slice(0, 1_000);
      const { body } = await importing(await fileOf(JSON.stringify(records)));
      expect(body).toMatchObject({ read: 1_000, imported: 1_000 });
      const cves = (await store.issues()).filter(({ shared }) => shared.includes("GO-2022-0586")).map(({ name }) => name);
      expect(cves).toEqual(["CVE-2022-26945", "CVE-2022-30321", "CVE-2022-30322", "CVE-2022-30323"]);
    },
    30_000,
  );
});
