/** The pages of security as a person uses them, by keyboard alone: a product by its dialog, and one decision about all findings of a page. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

const component = (name: string) => ({ type: "library", "bom-ref": name, name, version: "1.0.0", purl: `pkg:npm/${name}@1.0.0` });

describe.skipIf(chromiumPath === null)("the pages of security", () => {
  let fleet: Fleet;
  let visitor: Visit;
  let page: Page;
  let base = "";

  beforeAll(async () => {
    fleet = await service();
    const operator = fleet.operator();
    const unique = crypto.randomUUID();
    const email = `${unique}@example.test`;
    const { id: workspace } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `security ${unique}` });
    await operator.call("POST", "/members", { workspace, email, role: "member" });
    const affected = ["a", "b"].map((name) => ({
      package: { ecosystem: "npm", name: `${name}-${unique}` },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }] }],
    }));
    await operator.call("POST", "/advisories", {
      records: [{ id: `GHSA-${unique}`, modified: "2026-01-01T00:00:00Z", affected }],
    });
    const components = [component(`a-${unique}`), component(`b-${unique}`)];
    const sbom = { bomFormat: "CycloneDX", specVersion: "1.6", components };
    await fetch(`${fleet.url()}/api/console/sboms?workspace=${workspace}&project=shop`, {
      method: "POST",
      headers: { authorization: `Bearer ${operator.token}` },
      body: JSON.stringify(sbom),
    });
    const found = () => operator.call<{ data: unknown[] }>("GET", `/findings?workspace=${workspace}`);
    await until(async () => (await found()).data.length === 2);
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, email);
    page = visitor.page;
    base = `${fleet.url()}/console/w/${workspace}`;
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  test("a product is created in its dialog, which gives the focus back when it is left", async () => {
    await page.goto(`${base}/products`);
    const opener = page.getByRole("button", { name: "Create a product" }).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await opener.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name" }).focus();
    await page.keyboard.type("Store");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Store" }).waitFor();
    expect(await page.getByRole("status").first().innerText()).toContain("is created");
  });

  test("all findings of a page are chosen by one button, and take one decision", async () => {
    await page.goto(`${base}/findings`);
    await page.getByRole("button", { name: "Select all on this page" }).focus();
    await page.keyboard.press("Space");
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(2);
    expect(await page.getByRole("button", { name: "Select none" }).isVisible()).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator("#triage-status").focus();
    await page.keyboard.type("Ign");
    await page.locator("#triage-note").focus();
    await page.keyboard.type("Never reached");
    await page.getByRole("button", { name: "Apply to the selected findings" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("2 findings are updated").first().waitFor();
    await page.goto(`${base}/findings?status=ignored`);
    expect(await page.getByRole("row").count()).toBe(3);
    expect(await visitor.audit()).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });
});
