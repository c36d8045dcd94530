/** The operator's work by keyboard alone: a workspace, its credit and its switches, an account, the ledger and the service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { enter, openTwice, tabTo } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the operator's pages", () => {
  let fleet: Fleet;
  let visitor: Visit;
  let page: Page;
  const unique = crypto.randomUUID().slice(0, 8);
  const name = `customer ${unique}`;
  const email = `${unique}@example.test`;

  beforeAll(async () => {
    fleet = await service();
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    page = visitor.page;
    await signIn(visitor, fleet, null);
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  const said = (words: string): Promise<void> => page.getByText(words).first().waitFor();
  const settings = () => fleet.operator().call("GET", `/workspaces/${encodeURIComponent(name)}`);

  test("a workspace is created in its dialog, and gets credit", async () => {
    await visitor.open("/console/operator");
    await openTwice(page.getByRole("button", { name: "Create a workspace" }).first());
    await page.keyboard.type(name);
    await page.keyboard.press("Tab");
    await page.keyboard.type("2.5");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name }).waitFor();
    const credit = await openTwice(page.getByRole("button", { name: "Add credit" }).first());
    await tabTo(credit.getByLabel("Amount in USD"));
    await page.keyboard.type("1.25");
    await page.keyboard.press("Enter");
    await said("The balance is now 3.750000000 USD");
  });

  test("the workspace gets a feature of early access, and is switched off", async () => {
    await enter(page.getByRole("link", { name: "Settings", exact: true }));
    for (const label of ["The platform is on", "Own provider keys"]) {
      await tabTo(page.getByRole("checkbox", { name: label }));
      await page.keyboard.press("Space");
      // The word about the first one is still there until the second is answered.
      const answered = page.waitForEvent("load");
      await page.keyboard.press("Enter");
      await answered;
      await said("The settings are saved");
    }
    expect(await settings()).toMatchObject({ early_access: ["own_keys"], enabled: false });
  });

  test("a member's account is suspended and active again, and its deletion is a question", async () => {
    await fleet.operator().call("POST", "/members", { workspace: name, email, role: "member" });
    await page.goto(`${fleet.url()}/console/w/${encodeURIComponent(name)}/members/${encodeURIComponent(email)}`);
    await enter(page.getByRole("button", { name: `Suspend ${email}` }));
    await said(`The account ${email} is suspended`);
    await enter(page.getByRole("button", { name: `End the suspension ${email}` }));
    await said(`The account ${email} is active again`);
    const dialog = await openTwice(page.getByRole("button", { name: "Delete the account" }).first());
    await dialog.getByText("This cannot be undone").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  });

  test("the ledger is verified, and the service tells its state", async () => {
    await page.goto(`${fleet.url()}/console/operator`);
    await enter(page.getByRole("link", { name: "Ledger", exact: true }));
    await enter(page.getByRole("button", { name: "Verify the ledger" }));
    await page.getByText("all checks passed").waitFor();
    await enter(page.getByRole("link", { name: "Fleet", exact: true }));
    await page.getByRole("heading", { level: 1, name: "Fleet" }).waitFor();
    await page.getByText("What it depends on", { exact: true }).first().waitFor();
    expect(await page.getByRole("button", { name: "Live", exact: true }).getAttribute("aria-pressed")).toBe("true");
    const asked = visitor.asked.length;
    await until(async () => visitor.asked.slice(asked).some((address) => address.endsWith("/console/operator/service")));
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search, or go to a page" }).fill(name.toUpperCase());
    await page.getByRole("listbox", { name: "Results" }).getByRole("option", { name }).first().waitFor();
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.press("Escape");
    expect(visitor.faults).toEqual([]);
  });
});
