/** A connector's page as a person uses it: the typed text becomes a file for the command that creates the connection. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { run } from "../../scripts/weir/run.ts";
import { operatorToken, type Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { chromiumPath, service, Visit, type VisitPlan } from "./browser.ts";

const secret = "canary-5f1c-token";
const keyFile = "-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----";

describe.skipIf(chromiumPath === null)("the page of a connector", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await service();
  }, 60_000);

  const visit = (plan: Omit<VisitPlan, "url"> = {}): Promise<Visit> => Visit.to({ url: fleet.url(), ...plan });

  /** Presses the button and returns the file that the browser saves. */
  async function saved(page: Page): Promise<{ name: string; text: string }> {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^Save/ }).click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  }

  const problems = (page: Page): Promise<string[]> => page.locator(".problem:visible").allTextContents();

  /** Runs the command that the page shows against the service, with the file that the page saved. */
  async function connect(command: string, file: { name: string; text: string }): Promise<Record<string, unknown>> {
    await using folder = await temporaryFolder();
    const path = join(folder.path, file.name);
    await writeFile(path, file.text);
    const words = command.replaceAll("\\\n", " ").trim().split(/\s+/);
    expect(words.splice(0, 5)).toEqual(["npm", "run", "-s", "weir", "--"]);
    const typed = words.map((word) => (word === "WORKSPACE" ? "default" : word === file.name ? path : word));
    const printed = { out: "", error: "" };
    const terminal = { out: (text: string) => void (printed.out += text), error: (text: string) => void (printed.error += text) };
    const service = () => ({ url: fleet.url(), token: operatorToken });
    const code = await run([...typed, "--json"], { service, files: () => ({ catalogDir: "./catalog-data" }) }, terminal);
    expect([code, printed.error]).toEqual([0, ""]);
    return JSON.parse(printed.out);
  }

  const shownCommand = async (page: Page): Promise<string> => (await page.locator(".command code:visible").textContent()) ?? "";

  test("the page saves the form as the file for `weir connection create`, and sends it nowhere", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/okta");
    await page.getByRole("textbox", { name: "Okta domain" }).fill(" acme.okta.com ");
    await page.locator("#set-0-api_token").fill(secret);
    const file = await saved(page);
    expect(file.name).toBe("okta-credentials.json");
    expect(JSON.parse(file.text)).toEqual({ okta_domain: "acme.okta.com", api_token: secret });
    await page.getByRole("status").filter({ hasText: "okta-credentials.json" }).waitFor();
    expect(await connect(await shownCommand(page), file)).toMatchObject({
      connector: "okta",
      credential_set: 0,
      fields: ["api_token", "okta_domain"],
    });
    expect([page.url(), visitor.asked, visitor.faults]).toEqual([`${fleet.url()}/connectors/okta`, ["/connectors/okta"], []]);
  });

  test("the alternative set of credentials replaces the first: what to grant, the form and the command", async () => {
    await using visitor = await visit({ width: 360 });
    const page = await visitor.open("/connectors/okta");
    await page.getByRole("textbox", { name: "Okta domain" }).fill("left.behind.example");
    const scope = page.getByText("okta.users.read", { exact: true });
    expect(await scope.isVisible()).toBe(false);
    await page.getByRole("radio", { name: "Okta domain, Client ID, Private key" }).check();
    expect(await page.getByRole("group", { name: /^Either/ }).isVisible()).toBe(false);
    expect(await scope.isVisible()).toBe(true);
    await page.getByRole("textbox", { name: "Okta domain" }).fill("acme.okta.com");
    await page.getByRole("textbox", { name: "Client ID" }).fill("0oa1");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "key.pem", mimeType: "text/plain", buffer: Buffer.from(keyFile) });
    await page.waitForFunction("document.querySelector('textarea').value !== ''");
    const file = await saved(page);
    expect(JSON.parse(file.text)).toEqual({ okta_domain: "acme.okta.com", client_id: "0oa1", private_key: keyFile });
    const command = await shownCommand(page);
    expect(command).toContain("--credential-set 1");
    expect(await connect(command, file)).toMatchObject({
      credential_set: 1,
      fields: ["client_id", "okta_domain", "private_key"],
    });
    expect([visitor.asked, visitor.faults]).toEqual([["/connectors/okta"], []]);
  });

  test("the file omits empty optional fields, and the page names missing required ones", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/absence-io");
    await page.getByRole("button", { name: /^Save/ }).click();
    expect(await problems(page)).toEqual(["API token / Personal access token is needed"]);
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
    const described = await page.evaluate(
      "document.activeElement.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent).join(' ')",
    );
    expect(described).toContain("API token / Personal access token is needed");
    await page.keyboard.type(secret);
    expect(await problems(page)).toEqual([]);
    const file = await saved(page);
    expect(JSON.parse(file.text)).toEqual({ api_token: secret });
    expect(await connect(await shownCommand(page), file)).toMatchObject({ connector: "absence-io", fields: ["api_token"] });
    expect(visitor.faults).toEqual([]);
  });

  test("the page accepts the same addresses as the service", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/absence-io");
    await page.getByLabel("API token / Personal access token").and(page.locator("input")).fill(secret);
    const field = page.getByLabel("Base URL");
    const message = page.locator(".problem:visible").or(page.getByRole("status").filter({ hasText: "has saved" }));
    for (const [address, wrong] of [
      ["http://acme.example", 1],
      ["acme.example", 1],
      ["https://acme.example/?x=1", 1],
      ["https://user@acme.example", 1],
      ["https://localhost", 1],
      ["https://acme.example/api", 0],
      ["HTTPS://acme.example", 0],
      ["", 0],
    ] as const) {
      await field.fill(address);
      await field.press("Enter");
      await message.first().waitFor();
      expect([address, (await problems(page)).length]).toEqual([address, wrong]);
    }
    expect(visitor.faults).toEqual([]);
  });

  test("a key file must be a JSON object", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/google-workspace");
    const area = page.locator("textarea:visible");
    for (const text of ["no JSON", "[]", '"text"', "null"]) {
      await area.fill(text);
      await page.getByRole("button", { name: /^Save/ }).click();
      expect([text, ...(await problems(page))]).toContain("A JSON object is needed");
    }
    await area.fill('{"type":"service_account"}');
    expect(await problems(page)).not.toContain("A JSON object is needed");
    expect(visitor.faults).toEqual([]);
  });

  test("a key file may have several lines, but no control characters", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/okta");
    await page.getByRole("radio", { name: "Okta domain, Client ID, Private key" }).check();
    await page.getByRole("textbox", { name: "Okta domain" }).fill("acme\tokta.com");
    await page.getByRole("textbox", { name: "Client ID" }).fill("0oa1");
    await page.locator("textarea:visible").fill(`${keyFile}\u0007`);
    await page.getByRole("button", { name: /^Save/ }).click();
    const complaint = "A text without control characters is needed";
    expect(await problems(page)).toEqual([complaint, complaint]);
    await page.locator("textarea:visible").fill(keyFile);
    expect(await problems(page)).toEqual([complaint]);
    const [tooLarge, empty] = [Buffer.alloc(200_000, "x"), Buffer.alloc(0)];
    for (const buffer of [tooLarge, empty]) {
      await page.locator("input[type=file]").setInputFiles({ name: "key.pem", mimeType: "text/plain", buffer });
      await page.getByText("“key.pem” is no file of 1 to 32768 characters").waitFor();
      expect(await page.locator("textarea:visible").inputValue()).toBe(keyFile);
      await page.locator("textarea:visible").fill(keyFile);
    }
    expect(visitor.faults).toEqual([]);
  });

  test("the page copies the command", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/okta");
    await page.getByRole("button", { name: "Copy the command" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await shownCommand(page));
    expect(visitor.faults).toEqual([]);
  });

  test("the page hides secrets until the user shows them", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/okta");
    const field = page.locator("#set-0-api_token");
    expect(await field.getAttribute("type")).toBe("password");
    const button = page.getByRole("button", { name: "Show API token" });
    await button.click();
    expect([await field.getAttribute("type"), await button.getAttribute("aria-pressed")]).toEqual(["text", "true"]);
    await button.click();
    expect([await field.getAttribute("type"), await button.getAttribute("aria-pressed")]).toEqual(["password", "false"]);
    expect(visitor.faults).toEqual([]);
  });

  test("without JavaScript the page has all instructions, and typed text goes nowhere", async () => {
    await using visitor = await visit({ javaScript: false });
    const page = await visitor.open("/connectors/okta");
    for (const legend of ["Either: Okta domain, API token", "Or, instead: Okta domain, Client ID, Private key"])
      await page.getByRole("group", { name: legend }).waitFor();
    const commands = await page.locator(".command code:visible").allTextContents();
    expect(commands.map((command) => command.includes("--credential-set 1"))).toEqual([false, true]);
    expect(await page.getByRole("button").and(page.locator(":visible")).count()).toBe(0);
    for (const element of await page.locator("input[type=password]").all()) await element.fill(secret);
    await page.locator("#set-0-okta_domain").fill("acme.okta.com");
    await page.locator("#set-0-okta_domain").press("Enter");
    await page.getByRole("link", { name: "Connectors", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Connectors" }).waitFor();
    expect(visitor.asked).toEqual(["/connectors/okta", "/connectors"]);
  });

  test("the page of a record-only connector has no fields, and its command works", async () => {
    await using visitor = await visit();
    const page = await visitor.open("/connectors/vouch");
    expect(await page.locator("form").count()).toBe(0);
    const command = await shownCommand(page);
    expect(await connect(command, { name: "none", text: "" })).toMatchObject({ connector: "vouch", method: "record_only" });
    expect(visitor.faults).toEqual([]);
  });
});
