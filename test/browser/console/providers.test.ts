/** A provider added by the operator, by keyboard alone: a refused key, an accepted one, and models that turn callable on the open page. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { keysOf } from "../../support/gateway/own-key-stage.ts";
import { error } from "../../support/providers/stub-answers.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { sharedService, type SharedService } from "../shared-service.ts";
import { tabTo } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the operator's page of providers", () => {
  let shared: SharedService;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    shared = await sharedService();
    visitor = await Visit.to({ url: shared.fleet.url(), reducedMotion: true });
    page = visitor.page;
    await signIn(visitor, shared.fleet, null);
  }, 60_000);
  afterAll(async () => {
    shared.stub.release();
    await shared.fleet.operator().call("DELETE", "/providers/stub");
    await visitor[Symbol.asyncDispose]();
  });

  test("the dialog opens by its address, keeps the ticks of a refused key, and adds an accepted one", async () => {
    await visitor.open("/console/operator/providers");
    await page.getByRole("link", { name: "Add key of Stub" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Add Stub" });
    await dialog.waitFor();
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.type("sk-mistyped-0001");
    for (const box of await dialog.getByRole("checkbox").all()) await box.check();
    shared.stub.answerOnce(error(401));
    await page.keyboard.press("Enter");
    await dialog.getByText("Stub refused the key").waitFor();
    expect(await dialog.getByRole("checkbox", { checked: true }).count()).toBe(2);
    await page.keyboard.type("sk-of-the-service-0001");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Stub" }).waitFor();
    expect(keysOf(shared.stub)).toContain("sk-of-the-service-0001");
  });

  test("models turn callable on the open page", async () => {
    const { stub, fleet } = shared;
    await page.getByText("1 model callable").waitFor();
    stub.hold();
    const before = stub.calls.length;
    const checking = fleet.operator().call("POST", "/models/check", { id: "stub/model" });
    await stub.called(before + 1);
    await page.reload();
    await page.getByText("1 callable, checking 1").waitFor();
    await page.evaluate("document.title = 'not loaded again'");
    stub.release();
    await checking;
    await page.getByText("1 model callable").waitFor();
    expect(await page.title()).toBe("not loaded again");
    expect(await page.locator("[data-checking]").count()).toBe(0);
  });

  test("a disabled provider says so on the page of its model", async () => {
    await tabTo(page.getByRole("button", { name: "Disable Stub" }));
    await page.keyboard.press("Enter");
    await page.getByText("Stub is disabled: it is no longer called.").first().waitFor();
    expect(await page.getByText("disabled", { exact: true }).count()).toBe(1);
  });
});
