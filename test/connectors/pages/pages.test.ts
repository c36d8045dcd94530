/** The catalog's pages as text; test/browser covers what a reader does with them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { askedFields } from "../../../src/connectors/catalog/files/columns.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import { catalogOf, judgeSearchWords } from "../../../src/connectors/catalog/files/judge.ts";
import { markup } from "../../../src/http/html.ts";
import type { Connector } from "../../../src/connectors/catalog/files/schema.ts";
import type { Published } from "../../../src/connectors/catalog/published.ts";
import type { PageQuery } from "../../../src/connectors/catalog/read-parameters.ts";
import { knowledgeOf, searchTermsOf } from "../../../src/connectors/catalog/search-terms.ts";
import { catalogPage } from "../../../src/connectors/pages/catalog-page.ts";
import { isTestable, setGrantsOf, rowOf, type ConnectorRow } from "../../../src/connectors/catalog/row.ts";
import { setUpPage } from "../../../src/connectors/pages/set-up-page.ts";
import { CatalogCache } from "../../../src/connectors/catalog/catalog-cache.ts";
import { connectorRoutes } from "../../../src/connectors/pages/routes.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { noDatabase } from "../../support/servers/no-database.ts";
import { sampleConnector } from "../catalog/sample.ts";
import { catalogService } from "../catalog-service.ts";

const files = await readConnectorFiles(new URL("../../../catalog-data", import.meta.url).pathname);
const catalog = catalogOf(files);
const rows = catalog.connectors.map((connector) => rowOf(connector, catalog));
const page = (row: ConnectorRow): string =>
  setUpPage(row, { version: "2026-11-20.1", grantNotes: catalog.grantNotes, setGrants });
const setGrants = setGrantsOf(catalog);
const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const escaped = (text: string): string => String(markup`${text}`);

describe("a template", () => {
  test("escapes every inserted value, in text and in attributes", () => {
    const hostile = `<script>alert("1")</script>'&`;
    expect(String(markup`<p title="${hostile}">${hostile}</p>`)).toBe(
      `<p title="${"&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#39;&#38;"}">${"&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#39;&#38;"}</p>`,
    );
  });

  test("inserts other templates unchanged, lists item by item, and nothing for null", () => {
    const words = ["a<b", "c"].map((word) => markup`<li>${word}</li>`);
    expect(String(markup`<ul>${words}</ul>${null}${0}`)).toBe("<ul><li>a&#60;b</li><li>c</li></ul>0");
  });
});

describe("the page of each of the 672 connectors", () => {
  test("has exactly the fields of its sets that are asked for: label, name, kind, secret or not, required or not", () => {
    for (const row of rows) {
      const text = page(row);
      const fields = row.credential_sets.flatMap((set, number) => askedFields(set).map((field) => ({ ...field, number })));
      expect([row.slug, count(text, / data-kind="/g)]).toEqual([row.slug, fields.length]);
      for (const { key, label, secret, optional, number } of fields) {
        const [element = ""] = new RegExp(`<(input|textarea)\\s+id="set-${number}-${key}"[^>]*>`).exec(text) ?? [];
        const long = element.startsWith("<textarea");
        expect([row.slug, key, element.includes(`name="${key}"`), /\srequired\s/.test(element)]).toEqual([
          row.slug,
          key,
          true,
          !optional,
        ]);
        expect([row.slug, key, /type="password"|class="secret"/.test(element)]).toEqual([row.slug, key, secret]);
        expect([row.slug, key, element.includes('autocomplete="off"'), / value=/.test(element) && !long]).toEqual([
          row.slug,
          key,
          true,
          false,
        ]);
        expect([row.slug, key, text.includes(`<label for="set-${number}-${key}">${escaped(label)}`)]).toEqual([
          row.slug,
          key,
          true,
        ]);
      }
    }
  });

  test("shows what to grant, word for word: the vendor's own words, each scope, each note", () => {
    const texts = new Map(catalog.grantNotes.map(({ code, text }) => [code, text.slice(1).split("{plan}")[0] ?? ""]));
    for (const row of rows) {
      const text = page(row);
      const { scopes = [], notes = [], plan } = row.grant ?? {};
      const promised = [...scopes, ...notes.map((code) => texts.get(code) ?? code), ...(plan === undefined ? [] : [plan])];
      if (row.grant?.text && scopes.length === 0) promised.push(row.grant.text);
      expect([row.slug, promised.filter((words) => !text.includes(escaped(words)))]).toEqual([row.slug, []]);
    }
  });

  test("links to its documentation and its sources without a referrer", () => {
    for (const row of rows) {
      const text = page(row);
      for (const url of [...(row.docs === null ? [] : [row.docs]), ...row.evidence.map(({ url }) => url)])
        expect([row.slug, url, text.includes(`<a href="${escaped(url)}" rel="noopener noreferrer"`)]).toEqual([
          row.slug,
          url,
          true,
        ]);
      expect([row.slug, count(text, /<a href="https?:/g)]).toEqual([row.slug, count(text, /rel="noopener noreferrer"/g)]);
    }
  });

  test("shows the command and the file's shape for each set, without a value", () => {
    for (const row of rows) {
      const text = page(row);
      row.credential_sets.forEach((set, number) => {
        const shape = JSON.stringify(Object.fromEntries(askedFields(set).map(({ key }) => [key, ""])), null, 2);
        expect([row.slug, text.includes(escaped(shape))]).toEqual([row.slug, true]);
        expect(text.includes(`--credential-set ${number}`)).toBe(number > 0);
      });
      expect([row.slug, text.includes(`--connector ${row.slug}`)]).toEqual([row.slug, true]);
    }
  });
});

describe("the page of a connector with alternative sets of credentials", () => {
  const okta = page(rows.find(({ slug }) => slug === "okta") ?? rowOf(sampleConnector(), catalog));
  const [, withToken = "", withKey = ""] = okta
    .slice(okta.indexOf('id="grant"'), okta.indexOf('id="form"'))
    .split("<div data-set=");

  test("shows for each set what to grant for it, and nothing else", () => {
    expect(["okta.users.read", "carries its user"].map((words) => [withToken.includes(words), withKey.includes(words)])).toEqual([
      [false, true],
      [true, false],
    ]);
    const isUnknown = ({ credential_sets: sets = [] }: Connector) => sets.some(({ grant }) => grant === null);
    const unknown = catalog.connectors.find(isUnknown) ?? sampleConnector();
    expect(page(rowOf(unknown, catalog))).toContain(`No source names what to grant at ${unknown.name} for these credentials`);
  });

  test("says where a secret is as long as it is typed, and later", () => {
    expect(okta).toContain("your file holds it as plain text until you connect; from then on the service keeps it, encrypted");
    expect(okta).not.toContain("it is stored encrypted");
  });
});

test("no row and no export has the grants of single sets", () => {
  const keys = rows.flatMap(({ credential_sets }) => credential_sets.flatMap((set) => Object.keys(set)));
  expect([...new Set(keys)].toSorted()).toEqual(["fields", "probe"]);
});

describe("the page of the list", () => {
  const connectors = rows.map((row) => ({ ...row, testable: isTestable(row), json: JSON.stringify(row) }));
  const published: Published = {
    number: 1,
    version: "2026-11-20.1",
    sha256: "",
    connectors,
    terms: searchTermsOf(connectors, knowledgeOf(catalog, judgeSearchWords(files.searchWords, catalog).words)),
    exports: {} as Published["exports"],
  };
  const list = (filters: Partial<PageQuery>): string =>
    catalogPage({ category: null, method: null, testable: false, q: "", page: 1, ...filters }, published, catalog.categories);
  const hrefs = (text: string): string[] =>
    [...text.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&#38;", "&"));

  test("shows popular vendors at the head of the whole list alone", () => {
    expect(count(list({}), /<h2 id="popular">/g)).toBe(1);
    for (const filters of [{ page: 2 }, { q: "okta" }, { category: "HRIS" }] as const)
      expect(count(list(filters), /<h2 id="popular">/g)).toBe(0);
  });

  test("has a chip for each filter, which removes only that one", () => {
    const text = list({ q: "github", category: "Version Control", method: "mcp" });
    const chips = hrefs(text.slice(text.indexOf('class="chips"'), text.indexOf('id="results"')));
    expect(chips).toEqual([
      "/connectors?category=Version+Control&method=mcp",
      "/connectors?q=github&method=mcp",
      "/connectors?q=github&category=Version+Control",
      "/connectors",
    ]);
  });

  test("shows only what can be tested where that is asked for, with a chip, and says it of each row", () => {
    const testable = rows.filter(isTestable).length;
    const text = list({ testable: true });
    expect(text).toContain(`${testable} connectors that can be tested`);
    expect(count(text, /can be tested<\/span><\/span><\/td>/g)).toBe(50);
    expect(text).toContain('<option value="yes" selected>Can be tested</option>');
    expect(list({ q: "github", testable: true })).toContain('href="/connectors?q=github"');
    expect(list({ q: "okta" })).toContain("can be tested</span>");
  });

  test("names the words that were taken in place of mistyped ones", () => {
    expect(list({ q: "oktaa" })).toContain('Did you mean <a href="/connectors?q=okta">okta</a>? Nothing is called “oktaa”.');
  });

  test.each([
    [{ q: "zzzz" }, "No name, former name, vendor or category begins like this", ["/connectors"]],
    [{ q: "okta", category: "HRIS" }, "“okta” is found elsewhere, but not in HRIS", ["/connectors?q=okta", "/connectors"]],
    [
      { category: "HRIS", method: "record_only" },
      "There is none in HRIS with Record only",
      ["/connectors?category=HRIS", "/connectors?method=record_only", "/connectors"],
    ],
  ] as const)("advises by the cause if nothing is left of %j", (filters, words, links) => {
    const text = list(filters);
    const advice = text.slice(text.indexOf(words), text.indexOf("</section>", text.indexOf(words)));
    expect([text.includes(words), hrefs(advice)]).toEqual([true, [...links]]);
  });
});

test("with only a recorded catalog, the notes' texts are those of the row", () => {
  const row = rowOf(sampleConnector(), catalog);
  const text = setUpPage(row, { version: "2026-11-20.1", grantNotes: [], setGrants: new Map() });
  expect(text.includes(escaped("groups.read, users.read; needs the vendor's plan: Enterprise"))).toBe(true);
});

test("without a catalog, a page reports it", async () => {
  const catalogCache = new CatalogCache({ sql: noDatabase, folder: "/none", clock: systemClock, log: silentLog });
  const routes = connectorRoutes({ catalogCache, clock: systemClock, log: silentLog });
  for (const path of ["/connectors", "/connectors/okta"]) {
    const response = await routes.handle(new Request(`http://localhost${path}`));
    expect([response.status, response.headers.get("retry-after"), response.headers.get("content-type")]).toEqual([
      503,
      "5",
      "text/html; charset=utf-8",
    ]);
    expect((await response.text()).includes("There is no connector catalog yet")).toBe(true);
  }
});

describe("served", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await catalogService();
  }, 60_000);
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`${fleet.url()}${path}`, { redirect: "manual", ...init });

  test.each(["/connectors", "/connectors/okta", "/connectors/nobody", "/connectors?page=x"])(
    "%s may load nothing from elsewhere, and nothing may frame it",
    async (path) => {
      const { headers } = await get(path);
      const policy = (headers.get("content-security-policy") ?? "").split("; ");
      expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]));
      expect(policy.join(" ")).not.toMatch(/unsafe|\*|https?:/);
      expect([headers.get("x-content-type-options"), headers.get("referrer-policy")]).toEqual(["nosniff", "no-referrer"]);
    },
  );

  test.each([
    [400, "/connectors?page=0", "parameter &#34;page&#34;"],
    [400, "/connectors?page=two", "parameter &#34;page&#34;"],
    [400, "/connectors?category=Nope", "parameter &#34;category&#34;"],
    [400, "/connectors?method=telepathy", "parameter &#34;method&#34;"],
    [400, `/connectors?q=${"x".repeat(201)}`, "parameter &#34;q&#34;"],
    [400, "/connectors?pag=2", "nearest known parameter is &#34;page&#34;"],
    [400, "/connectors/okta?x=1", "no parameter &#34;x&#34;"],
    [404, "/connectors?page=99", "the last one is page 14"],
    [404, "/connectors?page=99&q=hr", '<a href="/connectors?q=hr">See its first page</a>'],
    [404, "/connectors/aws", 'The nearest is <a href="/connectors/amazon-web-services">Amazon Web Services</a>'],
    [404, "/connectors/oktaa", 'The nearest is <a href="/connectors/okta">Okta</a>'],
    [404, "/connectors/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "&#60;script&#62;"],
  ])("%i for %s, on a page with the reason", async (status, path, words) => {
    const response = await get(path);
    const text = await response.text();
    expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
    expect([text.includes(words), text.includes("<script>alert")]).toEqual([true, false]);
  });

  test("another method is 405", async () => {
    const response = await get("/connectors", { method: "POST", body: "q=okta" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("the pages of the list contain the connectors of the API in the same order", async () => {
    const slugs: string[] = [];
    for (let number = 1; number <= 14; number++) {
      const text = await (await get(`/connectors?page=${number}`)).text();
      slugs.push(
        ...[...text.matchAll(/<th role="rowheader" scope="row"><a href="\/connectors\/([^"]+)"/g)].map(([, slug = ""]) => slug),
      );
    }
    expect(slugs).toEqual(rows.map(({ slug }) => slug));
  });
});
