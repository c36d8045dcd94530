/** An admin sets up a second factor in a real browser and signs in with it, by keyboard alone. */
import { describe, expect, test } from "bun:test";
import { appCode } from "../../support/sign-in/authenticator-app.ts";
import { chromiumPath, service, Visit } from "../browser.ts";

const password = "violet harbour engine 47";

describe.skipIf(chromiumPath === null)("the second factor", () => {
  test("an admin has to set up an app, signs in with a recovery code, and no page has a fault in both themes", async () => {
    const fleet = await service();
    const operator = fleet.operator();
    const email = `${crypto.randomUUID()}@example.test`;
    const { id: workspace } = await operator.call("POST", "/workspaces", { name: `second factor ${email}` });
    await operator.call("POST", "/members", { workspace, email, role: "admin" });
    const { url } = await operator.call("POST", "/session-links", { email });
    await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    const page = await visitor.open(new URL(String(url)).pathname);
    await page.getByRole("button", { name: "Sign in" }).press("Enter");
    await page.waitForURL(/\/console\/w\//);
    // The start page of the workspace is not what is tested here.
    visitor.faults.length = 0;

    const signIn = async (next: string) => {
      await page.context().clearCookies();
      await visitor.open(`/console/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel("E-mail address").fill(email);
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.keyboard.press("Enter");
    };
    const audit = async () => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1_280, height: 800 });
      expect(await visitor.audit()).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 360, height: 800 });
      expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    };

    await visitor.open("/console/account");
    await page.getByLabel("New password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByText("The password is set").first().waitFor();

    await signIn("/console");
    await page.getByRole("heading", { name: "A second factor is needed here" }).waitFor();
    // The answer for the workspace is 403, which the browser logs.
    visitor.faults.length = 0;
    await audit();
    await page.getByRole("button", { name: "Set up an app" }).press("Enter");
    await page.getByRole("img", { name: /QR code/ }).waitFor();
    await audit();
    const secret = (await page.locator("#secret").innerText()).replaceAll(/\s/g, "");
    await page.getByLabel("Code from the app").fill(appCode(secret, Date.now()));
    await page.keyboard.press("Enter");
    const [recovery = ""] = (await page.locator("#recovery-codes").innerText()).split("\n");
    await audit();
    await page.getByRole("link", { name: "I have stored them" }).press("Enter");
    await page.waitForURL(/\/console\/w\//);
    await visitor.open("/console/account");
    await page.getByText("10 recovery codes are left").waitFor();
    await page.getByText("Set up a new app").first().press("Enter");
    await audit();

    await signIn("/console/account");
    await page.getByText("Use a recovery code").press("Enter");
    await audit();
    await page.getByLabel("Recovery code").fill(recovery);
    await page.keyboard.press("Enter");
    await page.getByText("9 recovery codes are left").waitFor();
    expect(visitor.faults).toEqual([]);
  }, 30_000);
});
