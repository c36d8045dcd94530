/** The API reference says what the OpenAPI document says, and its examples are allowed. */
import { describe, expect, test } from "bun:test";
import { pages as consolePages } from "../../src/console/pages.ts";
import { markup } from "../../src/http/html.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { exampleBody } from "../../src/server/pages/curl.ts";
import { partsOf } from "../../src/server/pages/described.ts";
import { referenceRoutes } from "../../src/server/pages/reference.ts";
import { ManualClock } from "../support/clock.ts";
import { jsonOf, problems, type Json } from "../support/described.ts";

const document = openApiDocument({ slug: "acme" });
const json: Json = JSON.parse(JSON.stringify(document));
const parts = partsOf(document);
const shared = { description: JSON.stringify(document), consoleOn: false, clock: new ManualClock() };
const routes = referenceRoutes({ ...shared, publicOrigin: null });
const ask = (path: string, init: RequestInit = {}) => routes.handle(new Request(`http://weir${path}`, init));
const paths = ["/reference", ...parts.map(({ name }) => `/reference/${name}`)];
const pages = new Map(await Promise.all(paths.map(async (path) => [path, await (await ask(path)).text()] as const)));
const page = (path: string): string => pages.get(path) ?? "";

const escaped = (text: string): string => String(markup`${text}`);
const idsOf = (text: string): string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

test("the parts to which pages of the Console lead are served", () => {
  const named = consolePages.flatMap(({ path, reference }) => (reference === undefined ? [] : [{ path, reference }]));
  expect(named.length).toBeGreaterThanOrEqual(12);
  for (const { path, reference } of named) expect([path, pages.has(`/reference/${reference}`)]).toEqual([path, true]);
});

describe("each part", () => {
  test.each(parts)("shows its operations with their fields, answers and an example: $title", ({ name, operations }) => {
    const text = page(`/reference/${name}`);
    expect(operations).not.toEqual([]);
    for (const { path, operation, parameters, body, sameBody, answers } of operations) {
      const start = text.indexOf(` id="${operation.operationId}"`);
      const section = text.slice(start, text.indexOf("</section>", start));
      expect([path, section.includes(`<code>${escaped(path)}</code>`)]).toEqual([path, true]);
      const fields = [...parameters, ...(sameBody === null ? (body?.fields ?? []) : [])].map((field) => field.name);
      expect([path, fields.filter((field) => !section.includes(`<code>${escaped(field)}</code>`))]).toEqual([path, []]);
      expect([path, answers.filter(({ status }) => !section.includes(`>${status}<`))]).toEqual([path, []]);
      expect(section).toContain("curl ");
    }
  });

  test("a body that several operations take is shown once, and the others lead there", () => {
    const later = parts.flatMap(({ name, operations }) => operations.flatMap((one) => (one.sameBody ? [{ name, ...one }] : [])));
    expect(later.map(({ operation }) => operation.operationId)).toContain("countInputTokens");
    for (const { name, operation, sameBody } of later) {
      const first = parts
        .find((part) => part.name === name)
        ?.operations.find((one) => one.operation.operationId === sameBody?.id);
      expect(first?.operation.requestBody).toEqual(operation.requestBody);
      expect([first?.sameBody, page(`/reference/${name}`)]).toEqual([
        null,
        expect.stringContaining(`As in <a href="#${sameBody?.id}">`),
      ]);
    }
  });

  test("the parts hold every operation of the document once; HEAD stands beside its GET", () => {
    const shown = parts.flatMap(({ operations }) =>
      operations.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)),
    );
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(shown.toSorted()).toEqual(all.toSorted());
  });

  test("the bodies of the examples are what their schemas allow", () => {
    const wrong = parts.flatMap(({ operations }) =>
      operations.flatMap((described) => {
        const { method, path, operation } = described;
        const { schema } = jsonOf(operation.requestBody?.content["application/json"] ?? {});
        if (schema === undefined) return [];
        const found = problems(json, JSON.parse(JSON.stringify(schema)), exampleBody(described));
        return found.map((problem) => `${method} ${path}: ${problem}`);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the pages", () => {
  test("every link within the reference leads to a place on its page", () => {
    const broken = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/ href="(\/reference[^"#]*)?#([^"]+)"/g)]
        .filter(([, target = path, id = ""]) => !idsOf(page(target)).includes(id))
        .filter(([, , id]) => id !== "main")
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test("no id stands twice on a page, and no page is larger than 400 kB", () => {
    for (const [path, text] of pages) {
      const ids = idsOf(text);
      expect([path, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([path, []]);
      expect([path, text.length < 400_000]).toEqual([path, true]);
    }
  });

  test("the quick start has PUBLIC_URL, or a place for the address under which the browser came", async () => {
    const variables = async (from: typeof routes) => {
      const text = await (await from.handle(new Request("http://weir/reference", { headers: { host: "10.0.0.7" } }))).text();
      return /export WEIR_URL=(.*)/.exec(text)?.[1];
    };
    expect(await variables(routes)).toBe("<span data-origin>…  # this service's address</span>");
    expect(await variables(referenceRoutes({ ...shared, publicOrigin: "https://weir.example.com" }))).toBe(
      "https://weir.example.com",
    );
  });

  test("every piece of code has a button that copies it", () => {
    for (const [path, text] of pages) {
      const blocks = [...text.matchAll(/<pre><code id="([^"]+)">/g)].map(([, id = ""]) => id);
      expect([path, text.match(/<pre>/g)?.length]).toEqual([path, blocks.length]);
      expect([path, blocks.filter((id) => !text.includes(`data-copies="${id}" hidden`))]).toEqual([path, []]);
    }
  });

  test("a page runs the script that copies alone, sends no form and is not sent again to a client that has it", async () => {
    const response = await ask("/reference");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect([/script-src '[^']+'(;|$)/.test(policy), policy.includes("form-action 'none'")]).toEqual([true, true]);
    const again = await ask("/reference", { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
  });

  test("unknown parts and other methods get what unknown paths get", async () => {
    for (const [path, method] of [
      ["/reference/none", "GET"],
      ["/reference", "POST"],
    ] as const) {
      const response = await ask(path, { method });
      expect([response.status, await response.json()]).toEqual([404, { detail: "Not Found" }]);
    }
  });
});
