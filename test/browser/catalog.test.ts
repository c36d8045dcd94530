/** Uses the catalog as a person does, in a real browser. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import { chromiumPath, service, Visit, type VisitPlan } from "./browser.ts";
import { connectorCount } from "../support/connector-count.ts";

describe.skipIf(chromiumPath === null)("the catalog's page", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await service();
  }, 60_000);

  const visit = (plan: Omit<VisitPlan, "url"> = {}): Promise<Visit> => Visit.to({ url: fleet.url(), ...plan });

  async function total(query: string): Promise<number> {
    const response = await fetch(`${fleet.url()}/api/connectors?limit=1&${query}`);
    return ((await response.json()) as { total: number }).total;
  }

  test("the page finds connectors by a word of their name, and shows the first where a phone's screen begins", async () => {
    await using visitor = await visit({ width: 390 });
    const page = await visitor.open("/connectors");
    expect(await page.title()).toBe("Page 1 of 14 · Connectors · Weir");
    await page.getByLabel("Name or vendor").fill("OKTA");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { level: 2, name: "for “OKTA”" }).waitFor();
    const [row] = await page.getByRole("rowheader").all();
    const box = await row?.boundingBox();
    expect(box === null || box === undefined ? null : box.y < 400).toBe(true);
    await page.getByRole("rowheader").getByRole("link", { name: "Okta", exact: true }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Okta");
    expect(new URL(page.url()).pathname).toBe("/connectors/okta");
    expect(visitor.faults).toEqual([]);
  });

  test("choosing a category and a method shows their connectors at once, keeps the choices, and a chip removes one", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors");
    await page.getByLabel("Category").selectOption("Ticketing");
    await page.getByRole("heading", { level: 2, name: "in Ticketing" }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("category");
    await page.getByLabel("Connect with").selectOption("mcp");
    const found = await total("category=Ticketing&method=mcp");
    await page.getByRole("heading", { level: 2, name: `${found} connectors in Ticketing with MCP server` }).waitFor();
    const rows = page.getByRole("table").getByRole("row");
    expect(await rows.count()).toBe(found + 1);
    for (const text of (await rows.allTextContents()).slice(1)) expect(text).toContain("MCP server");
    expect([await page.getByLabel("Category").inputValue(), await page.getByLabel("Connect with").inputValue()]).toEqual([
      "Ticketing",
      "mcp",
    ]);
    await page.getByRole("link", { name: "Remove the filter MCP server" }).click();
    await page.getByRole("heading", { level: 2, name: `${await total("category=Ticketing")} connectors in Ticketing` }).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test.each(["", "q=cloud", "method=mcp", "q=security&method=api_token"])(
    "the page shows the API's counts, by category and by method: %s",
    async (filters) => {
      await using visitor = await visit();
      const page = await visitor.open(`/connectors?${filters}`);
      const options = async (label: string): Promise<{ value: string; text: string }[]> =>
        page.getByLabel(label).evaluate((select) => {
          const { options } = select as unknown as { options: Iterable<{ value: string; text: string }> };
          return [...options].map(({ value, text }) => ({ value, text }));
        });
      const counted = async (parameter: string, label: string): Promise<void> => {
        for (const { value, text } of await options(label)) {
          const query = new URLSearchParams(filters);
          query.set(parameter, value);
          expect(text).toEndWith(`(${await total(String(query))})`);
        }
      };
      await counted("category", "Category");
      await counted("method", "Connect with");
      const entries = await page.getByRole("navigation", { name: "Categories" }).getByRole("listitem").allTextContents();
      const choices = await options("Category");
      expect(entries.map((entry) => /(\d+) connectors/.exec(entry)?.[1])).toEqual(
        choices.map(({ text }) => /\((\d+)\)$/.exec(text)?.[1]),
      );
    },
  );

  test("the page reports an empty result and links to the whole list", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors?q=no+such+vendor&category=HRIS");
    expect(await page.getByRole("heading", { level: 2 }).first().textContent()).toBe(
      "No connectors in HRIS for “no such vendor”",
    );
    const browse = page
      .getByRole("navigation", { name: "Categories" })
      .getByRole("link", { name: `All ${connectorCount} connectors` });
    expect(await browse.count()).toBe(1);
    await page.getByRole("link", { name: "See all connectors" }).click();
    await page.getByRole("heading", { level: 2, name: `${connectorCount} connectors` }).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("the list has pages from the first to the last and back", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors?category=HRIS");
    const pages = page.getByRole("navigation", { name: "Pages" });
    expect(await pages.getByRole("link", { name: "Previous" }).count()).toBe(0);
    await pages.getByRole("link", { name: "Next page" }).click();
    expect(await pages.locator("[aria-current=page]").textContent()).toBe("Page 2");
    expect(await pages.getByRole("link", { name: "Next page" }).count()).toBe(0);
    expect(await page.getByRole("table").getByRole("row").count()).toBe(1 + (await total("category=HRIS")) - 50);
    await pages.getByRole("link", { name: "Previous page" }).click();
    expect(await pages.locator("[aria-current=page]").textContent()).toBe("Page 1");
    expect(visitor.faults).toEqual([]);
  });

  test("the page can be used with only the keyboard, from the address bar to a connector", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors");
    const focused = (): Promise<string> => page.evaluate("document.activeElement.id || document.activeElement.textContent");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("main");
    const stops: string[] = [];
    for (let stop = 0; stop < 4; stop++) {
      await page.keyboard.press("Tab");
      stops.push(await focused());
    }
    expect(stops).toEqual(["Browse the categories", "q", "Search", "category"]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("jamf pro");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "for “jamf pro”" }).waitFor();
    for (let stop = 0; stop < 20 && (await focused()) !== "Jamf Pro"; stop++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Jamf Pro" }).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("searching, filtering and paging work without JavaScript", async () => {
    await using visitor = await visit({ javaScript: false });
    const page = await visitor.open("/connectors");
    await page.getByLabel("Category").selectOption("HRIS");
    await page.getByLabel("Name or vendor").fill("hr");
    await page.getByRole("button", { name: "Search" }).click();
    await page
      .getByRole("heading", { level: 2, name: `${await total("q=hr&category=HRIS")} connectors in HRIS for “hr”` })
      .waitFor();
    await visitor.open("/connectors?page=2");
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "Page 3", exact: true }).and(page.locator("[aria-current=page]")).waitFor();
  });

  test("each page is one request", async () => {
    await using visitor = await visit();
    await visitor.open("/connectors");
    await visitor.open("/connectors/okta");
    expect(visitor.asked).toEqual(["/connectors", "/connectors/okta"]);
    expect(visitor.faults).toEqual([]);
  });
});
