/** The pages of models by keyboard: find, compare, look at one, and open it in the Workbench. */
import { describe, expect, test } from "bun:test";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the pages of models", () => {
  test("a member filters, compares two models and opens one in the Workbench by keyboard, without a script until there", async () => {
    const fleet = await service();
    const email = `${crypto.randomUUID()}@example.test`;
    const operator = fleet.operator();
    const { id } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `models ${email}`, credit_usd: "1" });
    await operator.call("POST", "/members", { workspace: id, email, role: "member" });
    await operator.call("PATCH", `/workspaces/${id}`, { early_access: ["models_page", "embeddings"] });
    await using visitor = await Visit.to({ url: fleet.url(), javaScript: false });
    await signIn(visitor, fleet, email);
    const page = await visitor.open(`/console/w/${id}/models`);
    await page.getByLabel("Name").focus();
    await page.keyboard.type("sandbox");
    await page.keyboard.press("Enter");
    await page.getByText("1 to 2 of 2 models").waitFor();
    for (const name of ["Sandbox echo", "Sandbox embed"]) {
      await page.getByLabel(`Compare ${name}`).focus();
      await page.keyboard.press("Space");
    }
    await page.setViewportSize({ width: 1_280, height: 420 });
    await page.evaluate("scrollTo(0, 0)");
    const button = await page.getByRole("button", { name: "Compare the checked models" }).boundingBox();
    expect([button && button.y > 0, button && button.y + button.height <= 420]).toEqual([true, true]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Compare models" }).waitFor();
    expect(await page.getByRole("columnheader").allInnerTexts()).toEqual(["Property", "Sandbox echo", "Sandbox embed"]);
    await page.getByRole("link", { name: "sandbox/echo" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Sandbox echo" }).waitFor();
    const [workbench, asked] = [page.getByRole("link", { name: "Open in Workbench" }), new URL(page.url()).pathname];
    expect([asked, await workbench.getAttribute("href")]).toEqual([
      `/console/w/${encodeURIComponent(id)}/models/sandbox/echo`,
      `/console/w/${encodeURIComponent(id)}/workbench?model=sandbox%2Fecho`,
    ]);
    expect(visitor.faults).toEqual([]);
  });
});
