/** The Console's parts as a person uses them, on pages that no workspace is needed for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { chartScript } from "../../../src/console/look/charts.ts";
import { consoleHeaders } from "../../../src/console/look/frame.ts";
import { assetRoutes } from "../../../src/http/assets.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { hostile } from "../../console/look/gallery-contents.ts";
import { createdPage, galleryPage, keysPage } from "../../console/look/gallery.ts";
import { chromiumPath, Visit, type VisitPlan } from "../browser.ts";

const pages: Record<string, () => string> = { "/keys": keysPage, "/gallery": galleryPage, "/created": createdPage };

/** The gallery alone, without a service: what is tested is its markup, style and script. */
function serve(): Promise<Server> {
  const assets = assetRoutes(systemClock);
  const server = createServer(async (request, response) => {
    const file = await assets.handle(new Request(`http://localhost${request.url ?? ""}`));
    if (file.ok) return void response.writeHead(200, Object.fromEntries(file.headers)).end(await file.bytes());
    const page = pages[request.url ?? ""];
    response.writeHead(page ? 200 : 404, {
      ...consoleHeaders({ scripts: [chartScript] }),
      "content-type": "text/html; charset=utf-8",
    });
    return void response.end(page?.() ?? "<title>Elsewhere</title>");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

describe.skipIf(chromiumPath === null)("the Console's parts", () => {
  let server: Server;
  beforeAll(async () => {
    server = await serve();
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const visit = (plan: Omit<VisitPlan, "url"> = {}): Promise<Visit> =>
    Visit.to({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reducedMotion: true, ...plan });
  const isOpen = (page: Page, id: string): Promise<boolean> =>
    page.evaluate(`document.getElementById("${id}").matches(":modal")`);

  test.each(["/keys", "/gallery"])(
    "the audit finds nothing on %s in both themes, and nothing runs over at any width",
    async (path) => {
      await using visitor = await visit();
      const page = await visitor.open(path);
      expect(await visitor.audit()).toEqual([]);
      for (const width of [320, 360, 768, 1_920]) {
        await page.setViewportSize({ width, height: 800 });
        expect([width, await visitor.overflow()]).toEqual([width, 0]);
      }
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await visitor.audit()).toEqual([]);
      expect(visitor.faults).toEqual([]);
    },
  );

  test("hostile text is shown as text, and a refused field has the focus", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/gallery");
    const text = String(await page.locator("main").textContent());
    for (const words of hostile) expect(text).toContain(words);
    expect([await page.locator("main img, main script").count(), visitor.faults]).toEqual([0, []]);
    expect(await page.title()).toBe(`${hostile[0]} · ${hostile[2]} · Weir`);
    // The refused field has the focus.
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
  });

  test("a click beside a dialog does nothing, and Escape asks once something was typed", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/keys");
    const asked: string[] = [];
    let answer = false;
    page.on("dialog", (question) => {
      asked.push(question.message());
      void (answer ? question.accept() : question.dismiss());
    });
    const opener = page.getByRole("button", { name: "Create key" }).first();
    await opener.focus();
    await page.keyboard.press("Space");
    expect(await page.evaluate("document.activeElement.name")).toBe("name");
    await page.mouse.click(5, 5);
    expect(await isOpen(page, "create")).toBe(true);
    await page.keyboard.press("Escape");
    expect([await isOpen(page, "create"), asked.length]).toEqual([false, 0]);
    expect(await page.evaluate("document.activeElement.dataset.opens")).toBe("create");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Production");
    // A browser lets a page refuse to close once; the second Escape must ask too.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect([await isOpen(page, "create"), asked]).toEqual([true, Array(2).fill("Close without saving what you typed?")]);
    answer = true;
    await page.keyboard.press("Escape");
    expect([await isOpen(page, "create"), asked.length]).toEqual([false, 3]);
  });

  test("a chart's periods are one stop for Tab, arrows move between them, and a card shows their row until Escape", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/keys");
    const chart = page.locator("figure.chart").first();
    const card = chart.locator(".chart-card");
    expect(await chart.locator(".slot[tabindex='0']").count()).toBe(1);
    await chart.locator(".slot[tabindex='0']").focus();
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement.getAttribute('aria-label')");
    const newest = String(await focused());
    expect(await card.innerText()).toContain(newest.split(":")[0] ?? "");
    await page.keyboard.press("ArrowLeft");
    const before = String(await focused());
    const shown = await card.innerText();
    expect([before === newest, shown.includes(before.split(":")[0] ?? ""), shown.includes("Production")]).toEqual([
      false,
      true,
      true,
    ]);
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await card.isVisible()).toBe(false);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    expect(await focused()).toMatch(/^1 /);
    expect(await page.evaluate("document.activeElement.getAttribute('href')")).toMatch(/^\/requests\?from=/);
    await chart.locator(".slot").nth(4).hover();
    await card.waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("a key that is shown once can be copied, and only its own button closes it without a question", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/created");
    page.on("dialog", (question) => void question.dismiss());
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    expect([await isOpen(page, "created"), ...(await visitor.audit())]).toEqual([true]);
    await page.getByRole("button", { name: "Copy Key" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor({ state: "attached" });
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("sk-weir-4f9a20c15d7e88b3aa10ff02c4de9d2e");
    await page.getByRole("radio", { name: "Python" }).check();
    expect(await page.locator(".samples pre:visible").allTextContents()).toEqual([expect.stringContaining("from openai")]);
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.waitForURL(/\/keys$/);
  });

  test("times are shown in the browser's zone, this year's without the year, and their title in UTC with it", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/keys");
    const [shown, title, expected, year] = (await page.evaluate(
      `[...document.querySelectorAll("time")].slice(0, 1).flatMap((time) =>
        [time.textContent, time.title, String(new Date("2026-11-26T09:41:07Z").getHours()).padStart(2, "0") + ":41",
          String(new Date().getFullYear())])`,
    )) as string[];
    expect(shown).toBe(`26 Nov${year === "2026" ? "" : " 2026"}, ${expected}`);
    expect(title).toBe("2026-11-26 09:41:07 UTC");
  });

  test("without a script the key is within the page, an opener leads to a page, and the menu opens on a phone", async () => {
    await using visitor = await visit({ javaScript: false, width: 360 });
    const page = await visitor.open("/created");
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toStartWith("sk-weir-");
    await page.getByText("Menu").click();
    await page.getByRole("link", { name: "Spend" }).waitFor();
    await visitor.open("/keys");
    await page.getByRole("link", { name: "Create key" }).click();
    expect(new URL(page.url()).pathname).toBe("/keys/new");
  });

  test("on a desktop each link of the menu can be reached by keyboard, without opening it", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/keys");
    const reached: string[] = [];
    for (let stop = 0; stop < 8; stop++) {
      await page.keyboard.press("Tab");
      reached.push(String(await page.evaluate("document.activeElement.textContent.trim()")));
    }
    expect(reached).toEqual(expect.arrayContaining(["Skip to the content", "Weir", "Home", "Keys", "Models"]));
  });
});
