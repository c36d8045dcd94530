/** The first request, its cost and its prompt, as a person finds them in the Console. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { enter, openTwice } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the pages of money", () => {
  let fleet: Fleet;
  let workspace: string;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    fleet = await service();
    const email = `${crypto.randomUUID()}@example.test`;
    const operator = fleet.operator();
    workspace = (await operator.call<{ id: string }>("POST", "/workspaces", { name: `money ${email}`, credit_usd: "1" })).id;
    await operator.call("PATCH", `/workspaces/${workspace}`, { prompt_storage: true });
    await operator.call("POST", "/members", { workspace, email, role: "admin" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, email);
    page = await visitor.open(`/console/w/${workspace}`);
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  test("Home leads a new admin to a first request, and from there to its cost and its prompt, by keyboard alone", async () => {
    await enter(page.getByRole("link", { name: "Send a first request" }));
    await page.waitForURL(/\/workbench/);
    await page.goto(`${page.url()}?model=sandbox/echo`);
    await page.getByRole("textbox", { name: "Message 1" }).focus();
    await page.keyboard.type("How much is this?");
    await page.keyboard.press("Control+Enter");
    const log = () => fleet.operator().log(`workspace=${workspace}`);
    await until(async () => (await log()).length === 1);
    const [row] = await log();
    await page.goto(`${fleet.url()}/console/w/${workspace}/requests`);
    await page.locator("tbody a").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/requests/${row?.generation_id}`);
    expect(await page.getByText(`${row?.cost_usd} USD`, { exact: true }).count()).toBe(1);
    await enter(page.getByRole("button", { name: "Show the prompt and record that I did" }));
    await page.getByRole("region", { name: "1. user" }).waitFor();
    expect(await page.getByRole("region", { name: "1. user" }).innerText()).toBe("How much is this?");
    expect(await page.getByRole("region", { name: "The answer", exact: true }).innerText()).toBe("How much is this?");
    const audit = await fleet.operator().call<{ data: unknown[] }>("GET", `/audit?workspace=${workspace}&event=prompt.shown`);
    expect(audit.data).toHaveLength(1);
    await page.goto(`${fleet.url()}/console/w/${workspace}`);
    expect(await page.locator(`.tiles data[value="${row?.cost_usd}"]`).count()).toBe(1);
  });

  test("a stored prompt is deleted after a question, by keyboard alone, and Settings says that none is left", async () => {
    const [row] = await fleet.operator().log(`workspace=${workspace}`);
    const settings = `${fleet.url()}/console/w/${workspace}/settings`;
    await page.goto(settings);
    await page.getByText("One prompt is stored").first().waitFor();
    const all = await openTwice(page.getByRole("button", { name: "Delete all before…" }));
    await all.getByText("This cannot be undone").waitFor();
    expect(await visitor.audit()).toEqual([]);
    await page.goto(`${fleet.url()}/console/w/${workspace}/requests/${row?.generation_id}`);
    const one = await openTwice(page.getByRole("button", { name: "Delete", exact: true }).first());
    await enter(one.getByRole("button", { name: "Delete", exact: true }));
    await page.getByText("The prompt and its answer are deleted.", { exact: true }).first().waitFor();
    await page.getByText("No prompt is stored for this request").waitFor();
    await page.goto(settings);
    await page.getByText("No prompt is stored.").waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("Spend offers the days of the browser's time zone, and every page keeps the choice", async () => {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kathmandu" });
    await page.goto(`${fleet.url()}/console/w/${workspace}/spend?by=model`);
    await page.getByRole("button", { name: /Use Asia/ }).click();
    await page.getByText(/Days begin at 00:00 in Asia\/\w+\.$/).waitFor();
    expect(new URL(page.url()).search).toBe("?by=model");
    await page.getByText("These numbers as a table").click();
    expect(await page.getByRole("columnheader", { name: /Day \(Asia\/K/ }).count()).toBe(1);
    await page.goto(`${fleet.url()}/console/w/${workspace}/requests`);
    await page.getByText(/Days begin at 00:00 in Asia\/\w+\.$/).waitFor();
    await page.getByRole("button", { name: "Use UTC" }).click();
    await page.getByText("Days begin at 00:00 in UTC.", { exact: true }).waitFor();
    await session.detach();
    expect(visitor.faults).toEqual([]);
  });

  test("a statement prints without the menu and its buttons, and Audit hands out its pack of evidence", async () => {
    await fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["usage_statements"] });
    await page.goto(`${fleet.url()}/console/w/${workspace}/statements`);
    await page.getByRole("table").locator("tbody th a").first().click();
    await page.waitForURL(/\/statements\/\d{4}-\d{2}$/);
    await page.emulateMedia({ media: "print" });
    for (const [part, isPrinted] of [
      [page.getByRole("heading", { level: 1 }), true],
      [page.locator("header.side"), false],
      [page.locator(".actions"), false],
    ] as const)
      expect([String(part), await part.isVisible()]).toEqual([String(part), isPrinted]);
    expect((await page.pdf()).subarray(0, 5).toString()).toBe("%PDF-");
    await page.emulateMedia({ media: null });
    await page.goto(`${fleet.url()}/console/w/${workspace}/audit`);
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Evidence pack" }).click();
    const pack = await downloading;
    expect([pack.suggestedFilename().endsWith(".zip"), await pack.failure()]).toEqual([true, null]);
    expect((await Bun.file(await pack.path()).bytes()).subarray(0, 2)).toEqual(Buffer.from("PK"));
    expect(visitor.faults).toEqual([]);
  });
});
