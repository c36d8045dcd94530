/**
 * A new user with nothing but the link that `npm start` prints: a streamed answer, its cost, a key, and the first answer of a provider's
 * model, without a terminal besides.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { chromiumPath, Visit } from "../browser.ts";
import { stepsToFirstAnswer } from "./first-answer.ts";
import { sharedService, type SharedService } from "../shared-service.ts";
import { chat } from "../../support/gateway/requests.ts";
import { keysOf } from "../../support/gateway/own-key-stage.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";

describe.skipIf(chromiumPath === null)("the first minutes", () => {
  let fleet: Fleet;
  let stub: SharedService["stub"];
  let visit: Visit;
  let page: Page;
  beforeAll(async () => {
    ({ fleet, stub } = await sharedService());
    visit = await Visit.to({ url: fleet.url() });
    page = visit.page;
  }, 60_000);
  afterAll(async () => {
    await fleet.operator().call("DELETE", "/providers/stub");
    await visit[Symbol.asyncDispose]();
  });

  test("the printed link leads to a streamed answer, to a key that works, and to what both cost", async () => {
    const printed = /(\/console\/link\/[\w-]{43})/;
    // It is ready before it prints.
    const [, link = ""] = printed.exec((await fleet.gateways[0]?.process.says(printed)) ?? "") ?? [];
    await visit.open(link);
    await page.getByText("and as the operator of this service").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();

    await page.getByRole("link", { name: "Send a first request" }).click();
    await page.getByLabel("Message 1", { exact: true }).fill("Hello, weir");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("Hello, weir", { exact: true }).last().waitFor();
    await page.getByRole("link", { name: "See the request" }).waitFor();

    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByRole("button", { name: "Create key" }).first().click();
    await page.getByLabel("Name", { exact: false }).fill("my first app");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have stored it" }).waitFor();
    const key = await page.getByLabel("Key", { exact: true }).inputValue();
    const answer = await chat({
      url: fleet.url(),
      key,
      body: { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] },
    });
    expect(answer.status).toBe(200);
    await answer.text();
    await page.getByRole("button", { name: "I have stored it" }).click();

    await until(async () => (await fleet.operator().log("workspace=default")).length >= 2);
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    const rows = page.getByRole("table");
    for (const caller of ["my first app", "Workbench"]) await rows.getByText(caller).first().waitFor();
    expect(await rows.locator("data.money").count()).toBeGreaterThanOrEqual(2);
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await page.getByText("Last requests", { exact: true }).first().waitFor();
    expect(visit.faults).toEqual([]);
  }, 60_000);

  test("the same session adds a provider's key and gets an answer of its model", async () => {
    const provider = { name: "Stub", key: "sk-of-the-newcomer-01" };
    const [, ...steps] = stepsToFirstAnswer({ provider, model: "stub/model", answer: "Hello from the stub" });
    for (const { act } of steps) await act(page);
    expect(keysOf(stub)).toContain(provider.key);
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await page.getByRole("listitem").filter({ hasText: "Done: Add a provider’s key" }).waitFor();
    expect(visit.faults).toEqual([]);
  }, 60_000);
});
