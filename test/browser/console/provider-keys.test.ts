/** A workspace's own provider keys, by keyboard alone: stored, tested, replaced, disabled and deleted by admins, and by no one else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { keysOf } from "../../support/gateway/own-key-stage.ts";
import { error } from "../../support/providers/stub-answers.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { sharedService, type SharedService } from "../shared-service.ts";
import { enter, openTwice, tabTo } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

const roles = ["member", "auditor", "admin", "super_admin"] as const;

describe.skipIf(chromiumPath === null)("the pages of provider keys", () => {
  let shared: SharedService;
  let visitor: Visit;
  let page: Page;
  let base = "";
  const unique = crypto.randomUUID().slice(0, 8);
  const addressOf = (role: string): string => `${role}-${unique}@example.test`;

  beforeAll(async () => {
    shared = await sharedService();
    const operator = shared.fleet.operator();
    const { id } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `provider keys ${unique}` });
    await operator.call("PATCH", `/workspaces/${id}`, { early_access: ["own_keys"] });
    for (const role of roles) await operator.call("POST", "/members", { workspace: id, email: addressOf(role), role });
    visitor = await Visit.to({ url: shared.fleet.url(), reducedMotion: true });
    page = visitor.page;
    base = `${shared.fleet.url()}/console/w/${id}/provider-keys`;
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  async function openAs(role: string): Promise<void> {
    await page.context().clearCookies();
    await signIn(visitor, shared.fleet, role === "operator" ? null : addressOf(role));
    await page.goto(base);
  }

  const usedKey = (): string | undefined => keysOf(shared.stub).at(-1);

  test("an admin stores a key in a dialog, which keeps what a refused key came with", async () => {
    await openAs("admin");
    const dialog = await openTwice(page.getByRole("button", { name: "Add a provider key" }).first());
    await page.keyboard.type("Stub");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Our account");
    await page.keyboard.press("Tab");
    await page.keyboard.type("sk-mistyped-0001");
    shared.stub.answerOnce(error(401));
    await page.keyboard.press("Enter");
    await page.getByText("refused the key").first().waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Our account");
    await tabTo(dialog.getByLabel("Key", { exact: true }));
    await page.keyboard.type("sk-of-ours-0001");
    await page.keyboard.press("Enter");
    await page.getByText("The key is stored").first().waitFor();
    expect(usedKey()).toBe("sk-of-ours-0001");
  });

  test("an admin tests the key, replaces it, disables it and deletes it after a question", async () => {
    await enter(page.getByRole("link", { name: "stub", exact: true }));
    await page.getByRole("heading", { level: 1, name: "Our account" }).waitFor();
    const testing = await openTwice(page.getByRole("button", { name: "Test", exact: true }));
    await enter(testing.getByRole("button", { name: "Test it" }));
    await page.getByText("1 of 1 calls were answered").waitFor();
    await enter(page.getByRole("link", { name: "See the key" }));
    const replacing = await openTwice(page.getByRole("button", { name: "Replace", exact: true }));
    await tabTo(replacing.getByLabel("Key", { exact: true }));
    await page.keyboard.type("sk-of-ours-0002");
    await page.keyboard.press("Enter");
    await page.getByText("The key is replaced").first().waitFor();
    expect(usedKey()).toBe("sk-of-ours-0002");
    const disabling = await openTwice(page.getByRole("button", { name: "Disable", exact: true }));
    await enter(disabling.getByRole("button", { name: "Disable" }));
    await page.getByText("The key is disabled").first().waitFor();
    const dialog = await openTwice(page.getByRole("button", { name: "Delete" }).first());
    await dialog.getByText("Our account").waitFor();
    await enter(dialog.getByRole("button", { name: "Delete" }));
    await page.getByText("The provider key is deleted").first().waitFor();
    // The refused key is an error in the browser's console too.
    expect(visitor.faults.filter((fault) => !fault.includes("409"))).toEqual([]);
  });

  test.each([...roles, "operator"])("of the roles only those that manage keys are offered it: %s", async (role) => {
    await openAs(role);
    const manages = role !== "member" && role !== "auditor";
    expect(await page.getByRole("button", { name: "Add a provider key" }).count()).toBe(manages ? 2 : 0);
    expect(await page.getByText(`Provider keys are managed by admins. Your role is ${role}`).count()).toBe(manages ? 0 : 1);
  });
});
