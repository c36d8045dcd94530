/** An admin invites and deactivates a member in a real browser, by keyboard alone. */
import { describe, expect, test } from "bun:test";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the members", () => {
  test("an admin invites a person and ends a membership, in dialogs without a fault in both themes, and saves a setting", async () => {
    const fleet = await service();
    const operator = fleet.operator();
    const [admin, leaver, invited] = Array.from({ length: 3 }, () => `${crypto.randomUUID()}@example.test`) as [
      string,
      string,
      string,
    ];
    const { id: workspace } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `members ${admin}` });
    await operator.call("POST", "/members", { workspace, email: admin, role: "admin" });
    await operator.call("POST", "/members", { workspace, email: leaver, role: "member" });
    await operator.call("POST", "/keys", { workspace, owner: leaver, name: "nightly batch" });
    await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, admin);
    const page = await visitor.open(`/console/w/${workspace}/members`);
    const audit = async () => {
      for (const [colorScheme, width] of [
        ["light", 1_280],
        ["dark", 360],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
      }
    };

    await page.getByRole("button", { name: "Invite a member" }).press("Enter");
    await page.getByRole("dialog").waitFor();
    await audit();
    await page.keyboard.type(invited);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText(`${invited} is a member now`).first().waitFor();
    expect(
      (await operator.call<{ data: unknown[] }>("GET", `/members?workspace=${workspace}&email=${invited}`)).data,
    ).toMatchObject([{ role: "auditor", state: "active" }]);

    await page.getByRole("link", { name: leaver }).press("Enter");
    await page.getByRole("button", { name: "Deactivate" }).press("Enter");
    await page.getByRole("dialog").getByText("nightly batch").waitFor();
    await audit();
    await page.keyboard.press("Escape");
    expect(
      await page.getByRole("button", { name: "Deactivate" }).evaluate((opener) => opener === opener.ownerDocument.activeElement),
    ).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).press("Enter");
    await page.getByText(`${leaver} is no member any more`).first().waitFor();

    await visitor.open(`/console/w/${workspace}/settings`);
    await page.getByRole("checkbox", { name: "Store prompts and answers" }).press("Space");
    await page.keyboard.press("Enter");
    await page.getByText("The settings are saved").first().waitFor();
    expect(visitor.faults).toEqual([]);
  }, 60_000);
});
