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
  let workspace = "";
  let operator: ReturnType<Fleet["operator"]>;
  let names: string[] = [];

  beforeAll(async () => {
    fleet = await service();
    operator = fleet.operator();
    const unique = crypto.randomUUID();
    const email = `${unique}@example.test`;
    ({ id: workspace } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `security ${unique}` }));
    await operator.call("POST", "/members", { workspace, email, role: "member" });
    names = ["a", "b"].map((name) => `${name}-${unique}`);
    const affected = names.map((name) => ({
      package: { ecosystem: "npm", name },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }] }],
    }));
    await operator.call("POST", "/advisories", {
      records: [{ id: `GHSA-${unique}`, modified: "2026-01-01T00:00:00Z", affected }],
    });
    const components = names.map(component);
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

  test("the form of decisions follows the selection with its count, and offers the reasons of the chosen status", async () => {
    await page.goto(`${base}/findings`);
    const bar = page.getByRole("region", { name: "Triage the selected findings" });
    expect(await bar.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Select all on this page" }).focus();
    await page.keyboard.press("Space");
    expect(await page.getByRole("checkbox", { checked: true, name: /^Select / }).count()).toBe(2);
    await page.getByText("2 selected").waitFor();
    await page
      .getByRole("checkbox", { name: /^Select / })
      .first()
      .focus();
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Space");
    const box = await bar.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(801);
    const [reason, lastDay] = [page.locator("#triage-justification"), page.locator("#triage-accepted_until")];
    expect([await reason.isVisible(), await lastDay.isVisible()]).toEqual([false, false]);
    await page.locator("#triage-status").selectOption("ignored");
    expect([await reason.isVisible(), await lastDay.isVisible()]).toEqual([false, true]);
    await page.locator("#triage-status").focus();
    await page.keyboard.type("Not");
    expect([await reason.isVisible(), await lastDay.isVisible()]).toEqual([true, false]);
    await reason.focus();
    await page.keyboard.type("The vulnerable code is not r");
    await page.locator("#triage-note").focus();
    await page.keyboard.type("Never reached");
    expect(await visitor.audit()).toEqual([]);
    await page.getByRole("button", { name: "Apply to the selected findings" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("2 findings are updated").first().waitFor();
    await page.goto(`${base}/findings?status=not_affected`);
    expect(await page.getByRole("row").count()).toBe(3);
    await page.getByRole("rowheader").getByRole("link").first().click();
    await page.getByText("the vulnerable code is not reachable").first().waitFor();
    expect(await visitor.audit()).toEqual([]);
  });

  test("a decision of someone else appears by itself, not while findings are selected, and the new rows can be selected", async () => {
    const { data } = await operator.call<{ data: { id: string }[] }>("GET", `/findings?workspace=${workspace}`);
    const ids = data.map(({ id }) => id);
    const set = (findings: string[], status: string) => operator.call("PATCH", "/findings", { workspace, findings, status });
    await set(ids.slice(0, 1), "resolved");
    await set(ids.slice(1), "open");
    await page.goto(`${base}/findings`);
    const boxes = page.getByRole("checkbox", { name: /^Select / });
    const live = page.getByRole("button", { name: "Live", exact: true });
    expect([await boxes.count(), await live.getAttribute("aria-pressed")]).toEqual([1, "true"]);
    await page.getByRole("button", { name: "Select all on this page" }).click();
    await set(ids, "open");
    const asked = visitor.asked.length;
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    expect([await boxes.count(), visitor.asked.length]).toEqual([1, asked]);
    await page.getByRole("button", { name: "Select none" }).first().click();
    await until(async () => (await boxes.count()) === 2);
    await page.getByRole("button", { name: "Select all on this page" }).click();
    await page.getByText("2 selected").waitFor();
    expect([await visitor.audit(), visitor.faults]).toEqual([[], []]);
  });

  test("a VEX document is imported by keyboard, a wrong one is refused at its field, and what it did not match is said", async () => {
    await page.goto(`${base}/projects`);
    await page.getByRole("link", { name: "shop" }).first().click();
    await page.getByRole("link", { name: "Import VEX" }).focus();
    await page.keyboard.press("Enter");
    const field = page.getByLabel("VEX document");
    const send = async (document: object) => {
      const buffer = Buffer.from(JSON.stringify(document));
      await field.setInputFiles({ name: "vex.json", mimeType: "application/json", buffer });
      await page.getByRole("button", { name: "Import" }).focus();
      await page.keyboard.press("Enter");
    };
    await send({});
    await page.getByText("JSON of an unknown format").first().waitFor();
    expect(await field.getAttribute("aria-describedby")).toContain("import-file-problem");
    expect(await visitor.audit()).toEqual([]);
    // The browser reports the refusal.
    expect(visitor.faults.splice(0)).toEqual([expect.stringContaining("400")]);
    await send({ bomFormat: "CycloneDX", vulnerabilities: [{ id: "CVE-1999-0001", analysis: { state: "in_triage" } }] });
    await page.getByRole("heading", { level: 2, name: "Not matched" }).waitFor();
    await page.getByText("No advisory here has this id.").waitFor();
    expect([await visitor.audit(), await visitor.overflow(), visitor.faults]).toEqual([[], 0, []]);
  });

  test("a lock file is uploaded, and the project's page shows by itself what its scan finds", async () => {
    await page.goto(`${base}/projects/new`);
    await page.locator("#upload-project").fill("locked");
    const packages = {
      "": { name: "app", dependencies: { [names[0] ?? ""]: "1.0.0" } },
      [`node_modules/${names[0]}`]: { version: "1.0.0" },
    };
    const buffer = Buffer.from(JSON.stringify({ name: "app", lockfileVersion: 3, packages }));
    await page.locator("#upload-file").setInputFiles({ name: "package-lock.json", mimeType: "application/json", buffer });
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByRole("heading", { level: 1, name: "locked" }).waitFor();
    await page.locator("[data-scan]").waitFor({ state: "detached" });
    await page.getByRole("rowheader").getByRole("link").first().waitFor();
    await page.getByRole("link", { name: "Fix plan" }).click();
    await page.getByText("1 upgrade clears 1 of 1 open findings").waitFor();
    expect(await visitor.audit()).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });
});
