/** A catalog written to harm its readers: all of it is shown as text. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CatalogCopy } from "../connectors/catalog/catalog-copy.ts";
import { bareConnector, sampleConnector } from "../connectors/catalog/sample.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { chromiumPath, Visit } from "./browser.ts";

const script = "<script>document.title='harmed'</script>";
const image = `"><img src=https://harm.example/x onerror="document.title='harmed'">`;
const quote = `' onfocus='document.title="harmed"' autofocus='`;
const entity = "&lt;b&gt; &amp;amp; ${1+1} {{1+1}} </textarea></style></script>";

describe.skipIf(chromiumPath === null)("a hostile catalog", () => {
  let folder: TemporaryFolder;
  let fleet: Fleet;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const copy = await CatalogCopy.withoutConnectors(folder.path);
    await copy.write(
      sampleConnector({
        id: "hostile",
        slug: "hostile",
        name: script,
        aka: [image],
        vendor: image,
        credential_sets: [
          {
            fields: [
              { key: "first", label: script, secret: false, optional: false, kind: "text", example: image },
              { key: "second", label: image, secret: true, optional: true, kind: "multiline" },
            ],
          },
          { fields: [{ key: "third", label: quote, secret: true, optional: false, kind: "text" }] },
        ],
        grant: { text: entity, scopes: [image, script].toSorted(), notes: ["vendor_plan_required"], plan: quote },
        docs: `https://docs.example/"onmouseover="document.title='harmed'`,
        evidence: [
          {
            url: `https://docs.example/<script>document.title='harmed'</script>`,
            for: ["fields", "grant", "docs", "mcp", "oauth"],
            seen: "2026-11-20",
          },
        ],
      }),
    );
    await copy.write(bareConnector("Moved Vendor", { id: "vendor-as-it-was" }));
    fleet = await Fleet.start({ services: null, inTest: true, catalogDir: copy.folder });
  }, 60_000);
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test("a connector's page shows hostile contents as text", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), width: 360 });
    const page = await visitor.open("/connectors/hostile");
    expect(await page.title()).toBe(`${script} · Connectors · Weir`);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(script);
    const text = String(await page.locator("main").textContent());
    for (const words of [script, image, quote, entity]) expect(text).toContain(words);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.getByLabel(script, { exact: true }).getAttribute("data-label")).toBe(script);
    const handlers = await page.evaluate(
      "[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'autofocus')",
    );
    expect(handlers).toEqual([]);
    await page.getByRole("button", { name: /^Save/ }).click();
    expect(await page.locator(".problem:visible").allTextContents()).toEqual([`${script} is needed`]);
    expect([await visitor.overflow(), visitor.asked, visitor.faults]).toEqual([0, ["/connectors/hostile"], []]);
  });

  test("the list shows hostile contents as text", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), width: 360 });
    const page = await visitor.open("/connectors?q=hostile");
    await page.getByRole("link", { name: script, exact: true }).waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect([await visitor.overflow(), visitor.faults]).toEqual([0, []]);
  });

  test.each([script, image, quote, entity])("the list shows a hostile search as text: %s", async (words) => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open(`/connectors?q=${encodeURIComponent(words)}`);
    expect(await page.getByLabel("Name or vendor").inputValue()).toBe(words);
    expect(await page.title()).toContain(words);
    await visitor.open(`/connectors/${encodeURIComponent(words)}`);
    expect(await page.locator("main").textContent()).toContain(words);
    expect(visitor.faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

  test("a connector's first slug redirects to its current page", async () => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open("/connectors/vendor-as-it-was");
    expect([new URL(page.url()).pathname, await page.title()]).toEqual([
      "/connectors/moved-vendor",
      "Moved Vendor · Connectors · Weir",
    ]);
  });
});
