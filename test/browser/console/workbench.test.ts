/** The Workbench as a person uses it: an answer arrives, stops, fails or stands beside another, and its cost is shown. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the Workbench", () => {
  let fleet: Fleet;
  let workspace: string;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    fleet = await service();
    const name = `bench ${crypto.randomUUID()}`;
    const email = `${crypto.randomUUID()}@example.test`;
    const operator = fleet.operator();
    workspace = (await operator.call<{ id: string }>("POST", "/workspaces", { name, credit_usd: "1" })).id;
    await operator.call("POST", "/members", { workspace, email, role: "member" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, email);
    page = await visitor.open(`/console/w/${workspace}/workbench?model=sandbox/echo`);
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  const pane = (number: 1 | 2): Locator => page.locator("[data-pane]").nth(number - 1);
  const answer = (number: 1 | 2): Promise<string> => page.getByRole("region", { name: `Answer ${number}` }).innerText();
  const write = (message: string): Promise<void> => page.getByRole("textbox", { name: "Message 1" }).fill(message);
  const ended = (number: 1 | 2, state: string): Promise<void> =>
    pane(number).locator("[data-state]").getByText(state, { exact: true }).waitFor();

  test("an answer arrives by keyboard alone, is read out by sentences, and shows its cost with a link to the request", async () => {
    await page.getByRole("textbox", { name: "System" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("One sentence. And another one.");
    await page.keyboard.press("Control+Enter");
    await ended(1, "Done");
    expect(await answer(1)).toBe("One sentence. And another one.");
    expect(await pane(1).getByRole("log").locator("p").allInnerTexts()).toEqual(["One sentence.", "And another one."]);
    expect(await pane(1).locator(".facts").innerText()).toMatch(
      /Cost\s+\$0\.0\d+\s+Tokens\s+\d+ in, \d+ out\s+First token\s+\d+ ms/,
    );
    const link = await pane(1).getByRole("link", { name: "See the request" }).getAttribute("href");
    await until(async () => (await fleet.operator().log(`workspace=${workspace}`)).length === 1);
    const [row] = await fleet.operator().log(`workspace=${workspace}`);
    expect([link, row?.key_id]).toEqual([`/console/w/${workspace}/requests/${row?.generation_id}`, null]);
  });

  test("a stopped answer keeps its text, and its cost follows from the log", async () => {
    await write("sandbox: tokens=400 gap_ms=50");
    await page.getByRole("button", { name: "Run" }).click();
    await pane(1).locator("[data-text]").filter({ hasText: /.{20}/ }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Stop");
    await page.keyboard.press("Escape");
    await ended(1, "Stopped");
    expect((await answer(1)).length).toBeGreaterThanOrEqual(20);
    await pane(1).getByText("Cost").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Run");
  });

  test("an error is shown with its code, before a stream and within it", async () => {
    await write("sandbox: status=500");
    await page.getByRole("button", { name: "Run" }).click();
    await ended(1, "Failed");
    expect(await pane(1).getByRole("alert").innerText()).toContain("(upstream_error)");
    await write("sandbox: tokens=9 break_after=3");
    await page.getByRole("button", { name: "Run" }).click();
    await pane(1).locator("[data-text]").filter({ hasText: /./ }).waitFor();
    await ended(1, "Failed");
    expect(await pane(1).getByRole("alert").innerText()).toContain("(upstream_error)");
    // The answer with status 502 is an error in the browser's console too.
    expect(visitor.faults.splice(0).filter((fault) => !fault.includes("502"))).toEqual([]);
  });

  test("two models answer side by side, and an answer goes on in the conversation", async () => {
    await page.getByRole("checkbox", { name: "Compare with a second model" }).check();
    await pane(2).getByRole("combobox", { name: "Second model" }).selectOption("sandbox/echo");
    await write("Side by side");
    await page.getByRole("button", { name: "Run" }).click();
    await Promise.all([ended(1, "Done"), ended(2, "Done")]);
    expect([await answer(1), await answer(2)]).toEqual(["Side by side", "Side by side"]);
    await pane(2).getByRole("button", { name: "Continue from here" }).click();
    expect(await page.getByRole("textbox", { name: "Message 2" }).inputValue()).toBe("Side by side");
    expect(await page.getByRole("combobox", { name: "Author of message 2" }).inputValue()).toBe("assistant");
    await page.keyboard.type("It's the third");
    expect(await page.getByRole("region", { name: "Code: curl" }).innerText()).toContain(`It'\\''s the third"}]}'`);
    await page.getByRole("radio", { name: "Python" }).check({ force: true });
    expect(await page.getByRole("region", { name: "Code: Python" }).innerText()).toContain(
      '    model="sandbox/echo",\n    messages=[',
    );
    await page.getByRole("radio", { name: "Messages" }).check({ force: true });
    expect(await page.getByRole("region", { name: "Code: Python, Messages" }).innerText()).toContain(
      "anthropic import Anthropic",
    );
    await page.getByRole("radio", { name: "Responses" }).check({ force: true });
    expect(await page.getByRole("region", { name: "Code: Python, Responses" }).innerText()).toContain("    input=[");
    expect(await page.getByRole("region", { name: /^Code: / }).count()).toBe(1);
    expect(visitor.faults).toEqual([]);
  });

  test("the audit finds nothing, and nothing is cut off on a phone", async () => {
    expect(await visitor.audit()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
  });
});
