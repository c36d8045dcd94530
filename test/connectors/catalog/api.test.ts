/** The catalog over HTTP, as the service serves its own 672 connectors. */
import { beforeAll, describe, expect, test } from "bun:test";
import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import { isTestable, rowSchemaText, type ConnectorRow } from "../../../src/connectors/catalog/row.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { jsonOf, problems, type Json } from "../../support/described.ts";
import { connectorCount } from "../../support/connector-count.ts";
import { catalogService } from "../catalog-service.ts";

let fleet: Fleet;
beforeAll(async () => {
  fleet = await catalogService();
}, 60_000);

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${fleet.url()}${path}`, init);
const body = async (path: string): Promise<Json> => jsonOf(await (await get(path)).json());

interface Page {
  connectors: ConnectorRow[];
  total: number;
  limit: number;
  offset: number;
  has_more: boolean;
  did_you_mean: string | null;
  version: string;
}
const page = async (query: string) => (await (await get(`/api/connectors${query}`)).json()) as Page;

/** The response as the server sends it: `fetch` would decompress it and add its own headers. */
function raw(path: string, { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = httpRequest(`${fleet.url()}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on("error", reject).end();
  });
}

describe("the list", () => {
  test("has pages that add up to all connectors, sorted by id", async () => {
    const ids: string[] = [];
    for (let offset = 0, more = true; more; offset += 200) {
      const { connectors, has_more, ...rest } = await page(`?limit=200&offset=${offset}`);
      expect(rest).toMatchObject({ total: connectorCount, limit: 200, offset });
      ids.push(...connectors.map(({ id }) => id));
      more = has_more;
    }
    expect(new Set(ids).size).toBe(connectorCount);
    expect(ids).toEqual(ids.toSorted());
  });

  test("is filtered by category, method and text together", async () => {
    const { connectors: all } = (await body("/api/connector-exports/latest.json")) as unknown as Page;
    const some = all.find(({ methods }) => methods.includes("mcp"));
    const category = some?.category ?? "";
    const expected = all.filter((one) => one.category === category && one.methods.includes("mcp"));
    const { connectors, total } = await page(`?limit=200&method=mcp&category=${encodeURIComponent(category)}`);
    expect<unknown>([total, connectors]).toEqual([expected.length, expected]);
    expect(await page(`?method=mcp&category=${encodeURIComponent(category)}&q=${some?.slug}`)).toMatchObject({ total: 1 });
    const tested = all.filter(isTestable).map(({ id }) => id);
    expect((await page("?limit=200&testable=yes")).connectors.map(({ id }) => id)).toEqual(tested.slice(0, 200));
    expect((await page("?q=OKTA")).connectors.map(({ slug }) => slug)).toContain("okta");
    expect(await page("?q=no+such+vendor")).toMatchObject({ connectors: [], total: 0, has_more: false, did_you_mean: null });
  });

  test("beyond its end is empty", async () => {
    expect(await page("?offset=5000")).toMatchObject({ connectors: [], total: connectorCount, offset: 5_000, has_more: false });
  });
});

test("one connector is the row of the exports, byte for byte", async () => {
  const one = await (await get("/api/connectors/okta")).text();
  const rows = (await (await get("/api/connector-exports/latest.ndjson")).text()).split("\n");
  expect(rows).toContain(one);
});

test("every row is valid by the schema, which is JSON Schema 2020-12", async () => {
  const { $schema, $id, title, ...schema } = await body("/api/connector-schema.json");
  expect([$schema, $id, typeof title]).toEqual([
    "https://json-schema.org/draft/2020-12/schema",
    "/api/connector-schema.json",
    "string",
  ]);
  const { connectors } = (await body("/api/connector-exports/latest.json")) as { connectors: unknown[] };
  expect(connectors).toHaveLength(connectorCount);
  expect(connectors.flatMap((row) => problems({}, schema, row))).toEqual([]);
});

test("the schema lists the 21 categories, so that a job notices any other", async () => {
  const schema = await body("/api/connector-schema.json");
  const { category } = jsonOf(schema["properties"]);
  expect(jsonOf(category)["enum"]).toEqual([
    "Identity & SSO",
    "Cloud Infrastructure",
    "Version Control",
    "Vulnerability Scanning",
    "HRIS",
    "Endpoint Detection & Response",
    "MDM",
    "Ticketing",
    "Background Check Providers",
    "CSPM",
    "Security Automation",
    "Infrastructure",
    "Digital Signature",
    "Communications Platforms",
    "Data Export",
    "CRM",
    "Cyber Insurance",
    "Business Applications",
    "User Access Review",
    "Security Training",
    "Vendor Management",
  ]);
  expect(problems({}, category, "Gardening")).not.toEqual([]);
});

test.each([
  [
    ["Own", "Further"],
    ["Own", "Further"],
  ],
  [[], undefined],
])("the schema for categories.json with %j lists %j", (categories, listed) => {
  const { category } = jsonOf(jsonOf(JSON.parse(rowSchemaText(categories)))["properties"]);
  expect<unknown>(jsonOf(category)["enum"]).toEqual(listed);
  expect(problems({}, category, "Own")).toEqual([]);
});

describe("an export", () => {
  test.each(["ndjson", "csv", "json"])("as %s: ETag, 304, gzip, HEAD, ranges", async (format) => {
    const path = `/api/connector-exports/latest.${format}`;
    const plain = await raw(path);
    expect(plain.headers).toMatchObject({
      "accept-ranges": "bytes",
      vary: "accept-encoding",
      "content-length": String(plain.body.length),
    });
    const gzip = await raw(path, { headers: { "accept-encoding": "gzip" } });
    expect(gzip.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(gzip.headers["etag"]).not.toBe(plain.headers["etag"]);
    const known = await raw(path, { headers: { "if-none-match": String(plain.headers["etag"]) } });
    expect([known.status, known.body.length, known.headers["etag"]]).toEqual([304, 0, plain.headers["etag"]]);
    const head = await raw(path, { method: "HEAD" });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ["etag", "content-length", "content-type", "x-catalog-version"])
      expect(head.headers[name]).toBe(plain.headers[name]);
    const part = await raw(path, { headers: { range: "bytes=100-199", "if-range": String(plain.headers["etag"]) } });
    expect([part.status, part.headers["content-range"]]).toEqual([206, `bytes 100-199/${plain.body.length}`]);
    expect(part.body.equals(plain.body.subarray(100, 200))).toBe(true);
    expect((await raw(path, { headers: { range: `bytes=${plain.body.length}-` } })).status).toBe(416);
  });

  test("of a version always has the same bytes, and is cacheable for ever", async () => {
    const latest = await raw("/api/connector-exports/latest.csv");
    const version = String(latest.headers["x-catalog-version"]);
    expect(version).toMatch(/^\d{4}-\d{2}-\d{2}\.1$/);
    const fixed = await raw(`/api/connector-exports/${version}.csv`);
    expect(fixed.body.equals(latest.body)).toBe(true);
    expect([latest.headers["cache-control"], fixed.headers["cache-control"]]).toEqual([
      "public, no-cache",
      "public, max-age=31536000, immutable",
    ]);
  });
});

test.each([
  [400, "/api/connectors?limit=500", '"limit"'],
  [400, "/api/connectors?category=Nope", '"category"'],
  [400, "/api/connectors/okta?x=1", '"x"'],
  [400, "/api/connector-changes", '"since"'],
  [400, "/api/connector-changes?since=1999-01-01.1", '"since"'],
  [404, "/api/connectors/no-such-vendor", "no-such-vendor"],
  [404, "/api/connectors/__proto__", "__proto__"],
  [404, "/api/connector-exports/latest.xml", "latest.xml"],
  [404, "/api/connector-exports/1999-01-01.1.csv", "1999-01-01.1.csv"],
  [404, "/api/connector-nothing", "Not Found"],
])("%i for %s, with a sentence", async (status, path, words) => {
  const response = await get(path);
  expect([response.status, await response.json()]).toEqual([status, { detail: expect.stringContaining(words) }]);
});

test("a wrong method is 405 and lists the allowed ones", async () => {
  const response = await get("/api/connectors", { method: "POST", body: "{}" });
  expect([response.status, response.headers.get("allow"), await response.json()]).toEqual([
    405,
    "GET, HEAD",
    { detail: "Method Not Allowed" },
  ]);
});
