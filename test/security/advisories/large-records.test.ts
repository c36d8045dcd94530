/** A subprocess reads large records: the main thread parses nothing of a megabyte, and the results are the same. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { advisoryReadHereBytesMax } from "../../../src/control-api/limits.ts";
import { Control, objectOf, operatorToken } from "../../support/control.ts";
import { osvRecord } from "../../support/security/advisories.ts";
import { criticalVector } from "../../support/security/advisory-store.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

const megabyte = 1024 * 1024;

/** A record about many packages, with a text of this size. */
function large(id: string, bytes: number): Record<string, unknown> {
  const affected = Array.from({ length: 1_200 }, (_, index) => ({
    package: { ecosystem: "npm", name: `package-${index}` },
    ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }] }],
    versions: [`1.0.${index}`],
  }));
  const severity = [{ type: "CVSS_V3", score: criticalVector }];
  const record = osvRecord(id, { affected, severity, summary: `A "large" one: ü`, details: "" });
  return { ...record, details: 'x"\\ é\n'.repeat(Math.ceil((bytes - JSON.stringify(record).length) / 9)) };
}

describe.each(oneDatabase)("large advisories on $name", ({ open }) => {
  let database: TestDatabase;
  let served: ReturnType<Control["listen"]>;
  beforeAll(async () => {
    database = await open();
    served = new Control(database.sql).listen();
  }, 60_000);
  afterAll(async () => {
    await served.stop();
    await database[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await database.sql.unsafe("TRUNCATE packages, advisories, vulnerabilities, findings, triages CASCADE");
  });
  const spies: { mockRestore(): void }[] = [];
  afterEach(() => spies.splice(0).forEach((spy) => spy.mockRestore()));
  const send = async (body: string) => {
    const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
    const response = await fetch(`${served.url}/api/console/advisories`, { method: "POST", headers, body });
    return { status: response.status, body: objectOf(await response.json()) };
  };
  const stored = async () =>
    JSON.stringify(
      await database.sql`
        SELECT id, modified, withdrawn, encode(digest, 'hex') AS digest, record,
          (SELECT jsonb_agg(jsonb_build_array(position, name, entry) ORDER BY position) FROM affected_packages
            JOIN packages ON packages.id = package_id WHERE advisory_id = advisories.id) AS affected,
          (SELECT jsonb_agg(jsonb_build_array(name, severity, score, cvss_vector, description, withdrawn) ORDER BY name) FROM vulnerabilities) AS issues
        FROM advisories ORDER BY id`,
    );

  test("a record of 8 MB is stored, and this thread parses and writes no text of a megabyte", async () => {
    const body = JSON.stringify({ records: [large("OSV-1", 7.5 * megabyte)] });
    let longest = 0;
    const parse = JSON.parse;
    spies.push(
      spyOn(JSON, "parse").mockImplementation((text: string, reviver) => {
        longest = Math.max(longest, text.length);
        return parse(text, reviver);
      }),
    );
    expect(await send(body)).toEqual({ status: 200, body: { imported: 1, unchanged: 0, failures: [] } });
    expect(await send(body)).toEqual({ status: 200, body: { imported: 0, unchanged: 1, failures: [] } });
    const joined = JSON.stringify({ records: [osvRecord("OSV-2", { aliases: ["OSV-1"] })] });
    expect((await send(joined)).body).toEqual({ imported: 1, unchanged: 0, failures: [] });
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(megabyte);
    const [issue] = await database.sql`SELECT severity, description FROM vulnerabilities WHERE NOT ended`;
    expect({ ...issue }).toEqual({ severity: "critical", description: 'A "large" one: ü' });
  }, 60_000);

  test("stored records and reported failures are the same with and without the subprocess", async () => {
    const bad = [{ id: "x" }, 7, osvRecord("OSV-9", { affected: "all" })];
    const records = [
      large("OSV-1", 220_000),
      osvRecord("OSV-2", { aliases: ["CVE-2026-1"], withdrawn: "2026-02-01T00:00:00Z" }),
      ...bad,
    ];
    const small = JSON.stringify({ records });
    expect(small.length).toBeLessThan(advisoryReadHereBytesMax);
    const here = await send(small);
    const rows = await stored();
    await database.sql.unsafe("TRUNCATE packages, advisories, vulnerabilities, findings, triages CASCADE");
    expect(await send(small + " ".repeat(advisoryReadHereBytesMax))).toEqual(here);
    expect(await stored()).toBe(rows);
    expect(here.body["failures"]).toHaveLength(3);
  }, 60_000);

  test.each([
    ["invalid JSON", '{"records": [', "The body is not valid JSON"],
    ["a list", "[]", "The body must be a JSON object"],
    ["no records", "{}", "records"],
    ["another field", '{"records": [], "recrods": []}', "recrods"],
    ["records that are not a list", '{"records": 1}', "records"],
    ["too many records", JSON.stringify({ records: Array.from({ length: 201 }, () => 1) }), "records"],
  ])("a large body with %s is refused like a small one", async (_, text, says) => {
    const large = await send(text + " ".repeat(advisoryReadHereBytesMax));
    const small = await send(text);
    expect(large.status).toBe(400);
    expect(objectOf(large.body["error"])["code"]).toBe(objectOf(small.body["error"])["code"]);
    expect(String(objectOf(large.body["error"])["message"])).toContain(says);
  });
});
