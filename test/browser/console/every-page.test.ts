/** Every page of the table in a real browser: an audit, nothing cut off on a phone, its dialogs by keyboard, and what each role gets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page as BrowserPage } from "playwright-core";
import type { Page } from "../../../src/console/page.ts";
import { pages } from "../../../src/console/pages.ts";
import { errorTable } from "../../../src/kernel/errors.ts";
import { addressOf } from "../../support/console-sample/history.ts";
import { addressIn, nameOf, viewerOf } from "../../support/console-sample/paths.ts";
import { SampleService } from "../../support/console-sample/sample.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { weighPage } from "../page-weight.ts";
import { enter, tabTo, walkDialogs } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("every page of the Console", () => {
  let service: SampleService;
  const visits = new Map<string | null, Promise<Visit>>();
  /** The dialogs of each page that were opened and left by keyboard, by their ids. */
  const walked = new Map<Page, Set<string>>();
  beforeAll(async () => {
    service = await SampleService.start();
  }, 90_000);
  afterAll(async () => {
    for (const visit of visits.values()) await (await visit)[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  /** One browser window for each viewer: another one for each page would cost more than the page. */
  function visitOf(email: string | null): Promise<Visit> {
    const visit = visits.get(email) ?? open(email);
    visits.set(email, visit);
    return visit;
  }

  async function open(email: string | null): Promise<Visit> {
    const visit = await Visit.to({ url: service.fleet.url(), reducedMotion: true });
    await signIn(visit, service.fleet, email);
    return visit;
  }

  /** What the browser would get, without showing it. */
  async function gets(visit: Visit, path: string): Promise<{ status: number; text: string }> {
    const response = await visit.page.request.get(service.fleet.url() + path, { maxRedirects: 0 });
    return { status: response.status(), text: await response.text() };
  }

  /** Walks the dialogs of a page that none of its viewers has walked yet. @returns the ids of all of its dialogs */
  async function walkNew(page: Page, { visit, text }: { visit: Visit; text: string }): Promise<string[]> {
    const ids = [...new Set([...text.matchAll(/data-opens="([^"]*)"/g)].map(([, id = ""]) => id))];
    const known = walked.get(page) ?? new Set<string>();
    if (ids.some((id) => !known.has(id))) {
      const seen = await walkDialogs(await visit.open(addressIn(service.sample, page)));
      walked.set(page, new Set([...known, ...seen]));
    }
    return ids;
  }

  const levelsOf = (page: BrowserPage): Promise<number[]> =>
    page.evaluate(
      "[...document.querySelectorAll('h1,h2,h3,h4')].filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))",
    );

  test.each(pages.map((page, index) => [nameOf(page), page, index] as const))("%s", async (_, page, index) => {
    const visit = await visitOf(viewerOf(page));
    const shown = await visit.open(addressIn(service.sample, page));
    const levels = await levelsOf(shown);
    expect([levels[0], levels.filter((level) => level === 1).length]).toEqual([1, 1]);
    expect(levels.every((level, at) => level <= (levels[at - 1] ?? 1) + 1)).toBe(true);
    // Light and dark have the same parts, whose colours look.test.ts audits in both.
    await shown.emulateMedia({ colorScheme: index % 2 === 1 ? "dark" : "light" });
    for (const width of [320, 360]) {
      await shown.setViewportSize({ width, height: 800 });
      expect([width, await visit.overflow()]).toEqual([width, 0]);
    }
    expect(await visit.audit()).toEqual([]);
    await shown.setViewportSize({ width: 1_280, height: 800 });
    walked.set(page, new Set(await walkDialogs(shown)));
    expect(visit.faults).toEqual([]);
  });

  test("a failed and a refused request say at the top what to do, in both themes and on a phone, and lists lead there by keyboard", async () => {
    const { name, generations, refused } = service.sample;
    const visit = await visitOf(addressOf("super_admin"));
    const requests = `/console/w/${name}/requests`;
    for (const path of [generations.failed, `refused/${refused}`]) {
      const shown = await visit.open(`${requests}/${path}`);
      const box = shown.locator(".problem-box");
      expect(await box.getByText("Next step:").count()).toBe(1);
      expect(await box.getByRole("link", { name: "in the reference" }).getAttribute("href")).toMatch(
        /^\/reference\/inference#error-\w+$/,
      );
      for (const colorScheme of ["light", "dark"] as const) {
        await shown.emulateMedia({ colorScheme });
        expect(await visit.audit()).toEqual([]);
      }
      await shown.setViewportSize({ width: 320, height: 800 });
      expect(await visit.overflow()).toBe(0);
      await shown.setViewportSize({ width: 1_280, height: 800 });
    }
    const list = await visit.open(requests);
    await list.getByRole("navigation", { name: "Requests by outcome" }).getByRole("link", { name: "Refused" }).focus();
    await list.keyboard.press("Enter");
    await list.waitForURL("**/requests?status=refused");
    expect(await visit.audit()).toEqual([]);
    await list.getByRole("table", { name: "Refused requests, newest first" }).locator("tbody a").first().focus();
    await list.keyboard.press("Enter");
    await list.waitForURL(`**/requests/refused/${refused}`);
    const reference = await visit.open("/reference/inference");
    for (const code of Object.keys(errorTable))
      expect([code, await reference.locator(`#error-${code}`).count()]).toEqual([code, 1]);
    expect(visit.faults).toEqual([]);
  });

  test("a page of 50 requests sends less than 60 kB the second time", async () => {
    const visit = await visitOf(addressOf("admin"));
    const path = `/console/w/${service.sample.name}/requests`;
    await visit.open(path);
    const { bytes } = await weighPage(visit, path);
    expect(await visit.page.locator("main tbody tr").count()).toBe(50);
    expect(bytes).toBeGreaterThan(2_000);
    expect(bytes).toBeLessThan(60_000);
  });

  test("a filtered list is saved as a view by keyboard, in a form that fits a phone, and the menu opens the list with it", async () => {
    const visit = await visitOf(addressOf("admin"));
    const base = `/console/w/${service.sample.name}`;
    const shown = await visit.open(`${base}/findings?severity=high`);
    const opener = shown.locator("summary", { hasText: "Save view" });
    await enter(opener);
    const name = shown.getByLabel("Name");
    for (const [width, colorScheme] of [
      [320, "dark"],
      [1_280, "light"],
    ] as const) {
      await shown.setViewportSize({ width, height: 800 });
      await shown.emulateMedia({ colorScheme });
      expect([width, await visit.overflow(), await visit.audit()]).toEqual([width, 0, []]);
    }
    await tabTo(name);
    await shown.keyboard.type("High ones");
    await tabTo(shown.getByLabel("Open the list with it from the menu"));
    await shown.keyboard.press("Space");
    await shown.keyboard.press("Enter");
    await shown.getByText("The view “High ones” is saved.").first().waitFor();
    const views = shown.getByRole("navigation", { name: "Saved views" });
    expect(await views.locator("[aria-current]").innerText()).toBe("High ones");
    await enter(views.getByRole("link", { name: "All findings" }));
    await shown.waitForURL("**/findings");
    await shown.keyboard.press("g");
    await shown.keyboard.press("f");
    await shown.waitForURL("**/findings?severity=high");
    expect(visit.faults).toEqual([]);
  });

  test("of the forms of Settings only one that was changed has a strong button, which stays in sight", async () => {
    const visit = await visitOf(addressOf("super_admin"));
    const shown = await visit.open(`/console/w/${service.sample.name}/settings`);
    const limit = shown.getByLabel("Monthly spend limit in USD");
    const changed = shown.locator("form[data-changed]");
    expect(await changed.count()).toBe(0);
    const before = await limit.inputValue();
    await limit.fill("300");
    const save = changed.getByRole("button", { name: "Save" });
    expect(await save.count()).toBe(1);
    await shown.evaluate("scrollTo(0, 0)");
    expect(await visit.audit()).toEqual([]);
    await limit.fill(before);
    expect(await changed.count()).toBe(0);
  });

  test("answered requests are one line each on a laptop, and a few lines on a phone, where tabs are one line", async () => {
    const { name, security } = service.sample;
    const visit = await visitOf(addressOf("super_admin"));
    const shown = await visit.open(`/console/w/${name}/requests?status=ok`);
    const heights = (): Promise<number[]> =>
      shown.evaluate("[...document.querySelectorAll('.rows tbody tr')].map((row) => row.getBoundingClientRect().height)");
    expect(Math.max(...(await heights()))).toBeLessThan(40);
    await shown.setViewportSize({ width: 360, height: 800 });
    expect(Math.max(...(await heights()))).toBeLessThan(180);
    await visit.open(`/console/w/${name}/projects/${security.project}/activity`);
    const tops = await shown.evaluate("[...document.querySelectorAll('.tabs a')].map((tab) => tab.getBoundingClientRect().top)");
    expect(new Set(tops as number[]).size).toBe(1);
    // The current one, which is the last, is in sight.
    const right = await shown.evaluate("document.querySelector('.tabs [aria-current]').getBoundingClientRect().right");
    expect(right as number).toBeLessThan(361);
    await shown.setViewportSize({ width: 1_280, height: 800 });
  });

  test.each(["member", "auditor"] as const)("a %s gets the pages of the role, and of the others a reason", async (role) => {
    const visit = await visitOf(addressOf(role));
    for (const page of pages.filter(({ of }) => of !== "person")) {
      const { status, text } = await gets(visit, addressIn(service.sample, page));
      const isOfRole = page.of === "workspace" && page.roles.includes(role);
      // Another person's key, member or request is refused to a member although its page is not.
      if (isOfRole && status !== 404) expect([nameOf(page), status]).toEqual([nameOf(page), 200]);
      if (!isOfRole) expect([nameOf(page), status]).toEqual([nameOf(page), 403]);
      expect([nameOf(page), text.match(/<h1[ >]/g)?.length]).toEqual([nameOf(page), 1]);
      await walkNew(page, { visit, text });
    }
  });

  test("an admin gets dialogs on the same pages, and each was opened and left by keyboard", async () => {
    const withDialogs = pages.filter((page) => (walked.get(page)?.size ?? 0) > 0);
    expect(withDialogs.length).toBeGreaterThan(5);
    const visit = await visitOf(addressOf("admin"));
    for (const page of withDialogs.filter(({ of, roles }) => of === "workspace" && roles.includes("admin"))) {
      const { text } = await gets(visit, addressIn(service.sample, page));
      expect([nameOf(page), (await walkNew(page, { visit, text })).length > 0]).toEqual([nameOf(page), true]);
    }
  });
});
