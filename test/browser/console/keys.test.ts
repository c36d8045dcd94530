/** Keys and connections by keyboard alone: made, changed, and taken away after a question. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumPath, Visit } from "../browser.ts";
import { sharedService } from "../shared-service.ts";
import { enter, openTwice, tabTo } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the pages of keys and connections", () => {
  let visitor: Visit;
  let page: Page;
  let base = "";

  beforeAll(async () => {
    const { fleet } = await sharedService();
    const unique = crypto.randomUUID().slice(0, 8);
    const { id } = await fleet.operator().call<{ id: string }>("POST", "/workspaces", { name: `keys ${unique}` });
    const email = `admin-${unique}@example.test`;
    await fleet.operator().call("POST", "/members", { workspace: id, email, role: "admin" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    page = visitor.page;
    await signIn(visitor, fleet, email);
    base = `${fleet.url()}/console/w/${id}`;
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
    await tabTo(page.getByLabel("Monthly spend limit in USD"));
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
