/** An admin invites and deactivates a member in a real browser, by keyboard alone. */
import { describe, expect, test } from "bun:test";
import type { Fleet } from "../../support/servers/fleet.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

/** As an admin does. */
async function invite(
  fleet: Fleet,
  { workspace, admin, person }: Record<"workspace" | "admin" | "person", string>,
): Promise<void> {
  const { status } = await fetch(`${fleet.url()}/api/console/members`, {
    method: "POST",
    headers: { authorization: `Bearer ${fleet.operator().token}`, "x-act-as": admin },
    body: JSON.stringify({ workspace, email: person, role: "member" }),
  });
  expect(status).toBe(201);
}

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
    await page.getByText(`${invited} is invited`).first().waitFor();
    expect(
      (await operator.call<{ data: unknown[] }>("GET", `/members?workspace=${workspace}&email=${invited}`)).data,
    ).toMatchObject([{ role: "auditor", state: "pending" }]);

    // No mail server is set up: the next page makes a link to hand over.
    await page.getByRole("button", { name: "Create the link" }).waitFor();
    await audit();
    await page.getByRole("link", { name: "Members" }).first().press("Enter");

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
    await page.getByText(`${leaver} is no longer a member`).first().waitFor();

    await visitor.open(`/console/w/${workspace}/settings`);
    await page.getByRole("checkbox", { name: "Store prompts and answers" }).press("Space");
    await page.keyboard.press("Enter");
    await page.getByText("The settings are saved").first().waitFor();
    expect(visitor.faults).toEqual([]);
  }, 60_000);

  test("a person accepts one invitation and declines another, and the admin sees the answers", async () => {
    const fleet = await service();
    const operator = fleet.operator();
    const person = `${crypto.randomUUID()}@example.test`;
    const names = ["accepted", "declined"].map((word) => `${word} by ${person}`);
    for (const workspace of names) {
      await operator.call("POST", "/workspaces", { name: workspace });
      const admin = `admin-${crypto.randomUUID()}@example.test`;
      await operator.call("POST", "/members", { workspace, email: admin, role: "admin" });
      await invite(fleet, { workspace, admin, person });
    }
    await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, person);
    const page = await visitor.open("/console");
    await page.getByRole("heading", { name: "Invitations" }).waitFor();
    for (const [colorScheme, width] of [
      ["light", 1_280],
      ["dark", 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    }
    await page.getByRole("button", { name: `Decline ${names[1]}` }).press("Enter");
    await page.getByText(`You have declined the invitation to ${names[1]}`).first().waitFor();
    await page.getByRole("button", { name: "Accept", exact: true }).press("Enter");
    await page.getByText(`You are a member of ${names[0]} now`).first().waitFor();
    const states = names.map(async (name) => {
      const path = `/members?workspace=${encodeURIComponent(name)}&email=${person}`;
      return (await operator.call<{ data: { state: string }[] }>("GET", path)).data[0]?.state;
    });
    expect(await Promise.all(states)).toEqual(["active", "declined"]);
    expect(visitor.faults).toEqual([]);
  }, 60_000);
});
