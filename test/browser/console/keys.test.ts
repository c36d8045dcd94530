/** Keys and connections by keyboard alone: made, changed, and taken away after a question. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { sharedService } from "../shared-service.ts";
import { enter, openTwice, tabTo } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the pages of keys and connections", () => {
  let fleet: Fleet;
  let visitor: Visit;
  let page: Page;
  let workspace = "";
  let email = "";
  let base = "";

  beforeAll(async () => {
    ({ fleet } = await sharedService());
    const unique = crypto.randomUUID().slice(0, 8);
    workspace = (await fleet.operator().call<{ id: string }>("POST", "/workspaces", { name: `keys ${unique}` })).id;
    email = `admin-${unique}@example.test`;
    await fleet.operator().call("POST", "/members", { workspace, email, role: "admin" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    page = visitor.page;
    await signIn(visitor, fleet, email);
    base = `${fleet.url()}/console/w/${workspace}`;
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  test("an admin creates a key, which is shown once, changes its limit and revokes it after a question", async () => {
    await page.goto(`${base}/keys`);
    const made = await openTwice(page.getByRole("button", { name: "Create key" }).first());
    await tabTo(made.getByLabel("Name"));
    await page.keyboard.type("Batch job");
    await page.keyboard.press("Enter");
    await page.getByLabel("Key", { exact: true }).waitFor();
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toStartWith("platform-api-");
    await enter(page.getByRole("button", { name: "I have stored it" }));
    await enter(page.getByRole("link", { name: "Batch job" }));
    const edited = await openTwice(page.getByRole("button", { name: "Edit" }).first());
    await tabTo(edited.getByLabel("Monthly spend limit in USD"));
    await page.keyboard.type("12.50");
    await page.keyboard.press("Enter");
    await page.getByText("The key is saved").first().waitFor();
    expect(await page.getByLabel("Monthly spend limit in USD").inputValue()).toBe("12.50");
    const question = await openTwice(page.getByRole("button", { name: "Revoke" }).first());
    await question.getByText("Batch job").first().waitFor();
    await enter(question.getByRole("button", { name: "Revoke" }));
    await page.getByText("is revoked").first().waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("a list is sorted by its headings and shows the chosen columns, on a phone by a form, and a reload keeps both", async () => {
    await fleet.operator().call("POST", "/keys", { workspace, owner: email, name: "Zebra", rate_limit_rpm: 7 });
    await fleet.operator().call("POST", "/keys", { workspace, owner: email, name: "apple", kind: "tools" });
    const names = (): Promise<string[]> => page.locator("tbody th").allInnerTexts();
    await page.goto(`${base}/keys`);
    expect(await names()).toEqual(["Zebra", "apple"]);
    await enter(page.getByRole("link", { name: "Name", exact: true }));
    await page.waitForURL("**/keys?sort=name");
    expect(await names()).toEqual(["apple", "Zebra"]);
    expect(await page.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("ascending");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByText("View", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Owner" }).uncheck();
    await page.getByLabel("Sort by").selectOption("Name, descending");
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/sort=-name/);
    await page.reload();
    await page.setViewportSize({ width: 1_280, height: 720 });
    expect(await names()).toEqual(["Zebra", "apple"]);
    expect(await page.getByRole("columnheader", { name: "Owner" }).count()).toBe(0);
    expect(await visitor.audit()).toEqual([]);
  });

  test("without a script a key is edited where its button leads, and filters unfold on a phone", async () => {
    await using plain = await Visit.to({ url: fleet.url(), reducedMotion: true, javaScript: false, width: 390 });
    await signIn(plain, fleet, email);
    const shown = await plain.open(`/console/w/${workspace}/keys`);
    await shown.getByRole("link", { name: "Zebra" }).click();
    await shown.getByRole("link", { name: "Edit" }).click();
    await shown.waitForURL(/[?]open=edit$/);
    await shown.getByLabel("Requests a minute").fill("9");
    await shown.getByRole("button", { name: "Save" }).click();
    await shown.getByText("The key is saved").first().waitFor();
    expect([await shown.getByRole("dialog").count(), new URL(shown.url()).search]).toEqual([0, ""]);
    // Without requests there are no filters, unless one is set.
    await plain.open(`/console/w/${workspace}/requests?from=2026-01-01`);
    expect(await shown.getByLabel("Model (id)").isVisible()).toBe(false);
    await shown.getByText("Filters (1)", { exact: true }).click();
    await shown.getByLabel("Model (id)").fill("sandbox/echo");
    await shown.getByRole("button", { name: "Filter", exact: true }).click();
    await shown.getByText("Filters (2)", { exact: true }).waitFor();
  });

  test("an admin finds a vendor, connects it, replaces the credentials and deletes the connection after a question", async () => {
    await page.goto(`${base}/connections`);
    await enter(page.getByRole("link", { name: "Connect a vendor" }).first());
    await tabTo(page.getByLabel("Vendor or product"));
    await page.keyboard.type("Aircall");
    await page.keyboard.press("Enter");
    await enter(page.getByRole("link", { name: "Aircall" }).first());
    await page.getByRole("heading", { level: 1, name: "Connect Aircall" }).waitFor();
    await fillIn("first");
    await page.getByText("is connected").first().waitFor();
    await openTwice(page.getByRole("button", { name: "Replace credentials" }).first());
    await fillIn("second");
    await page.getByText("The credentials are replaced").first().waitFor();
    const question = await openTwice(page.getByRole("button", { name: "Delete" }).first());
    await enter(question.getByRole("button", { name: "Delete" }));
    await page.getByText("is deleted").first().waitFor();
    expect(visitor.faults).toEqual([]);
  });

  /** Types into each field of the page's form, and sends it with Enter. */
  async function fillIn(word: string): Promise<void> {
    const fields = page.locator("main form input:visible:not([type=hidden])");
    for (let index = 0; index < (await fields.count()); index++) {
      await tabTo(fields.nth(index));
      await page.keyboard.type(`${word}-${index}`);
    }
    await page.keyboard.press("Enter");
  }
});
