/** The front door and the API reference in a real browser: a reader finds everything from the service's address alone. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../../support/servers/fleet.ts";
import { chromiumPath, service, Visit } from "../browser.ts";

describe.skipIf(chromiumPath === null)("the front door", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await service();
  }, 60_000);

  test.each(["/", "/reference", "/reference/connectors"])(
    "the audit finds nothing on %s, light on a desktop and dark on a phone, where nothing is cut off",
    async (path) => {
      await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
      const page = await visitor.open(path);
      expect(await visitor.audit()).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 360, height: 800 });
      expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
      expect([visitor.asked, visitor.faults]).toEqual([[path], []]);
    },
  );

  test("the page shows that the service is ready, and its base URL can be copied", async () => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open("/");
    await page.getByRole("heading", { level: 1, name: "Weir is ready" }).waitFor();
    await page.getByText(/of \d+ models can be called/).waitFor();
    await page.getByRole("button", { name: "Copy Base URL" }).click();
    await page.getByRole("button", { name: "Copied Base URL" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${fleet.url()}/gpt/v1`);
    expect(visitor.faults).toEqual([]);
  });

  test("the quick start has the service's own address, and can be copied", async () => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open("/reference");
    await page.getByRole("button", { name: "Copy the variables" }).click();
    await page.getByRole("button", { name: "Copied the variables" }).waitFor();
    expect(String(await page.evaluate("navigator.clipboard.readText()"))).toStartWith(`export WEIR_URL=${fleet.url()}\n`);
    expect(visitor.faults).toEqual([]);
  });

  test("the search leads to the connectors, without a script too", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), javaScript: false });
    const page = await visitor.open("/");
    await page.getByLabel("Name or vendor").fill("okta");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { level: 2, name: "for “okta”" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/connectors");
  });

  test("the reference leads from the overview to an operation and its fields, without a script too", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), javaScript: false });
    const page = await visitor.open("/");
    await page.getByRole("link", { name: "Quick start" }).click();
    await page.getByRole("link", { name: "Complete a chat", exact: true }).click();
    await page.getByRole("heading", { level: 2, name: "Complete a chat" }).waitFor();
    expect(page.url()).toBe(`${fleet.url()}/reference/inference#createChatCompletion`);
    const operation = page.getByRole("region", { name: "Complete a chat", exact: true });
    await operation.getByText("Fields of messages, role assistant").click();
    await operation.getByText("The refusal of an earlier answer").waitFor();
  });
});
