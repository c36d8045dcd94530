/** An admin sets an alert and tries a webhook on this machine in a real browser, by keyboard alone. */
import { describe, expect, test } from "bun:test";
import { atEnd } from "../../support/processes/at-end.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { enter } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the alerts", () => {
  test("an admin sets an alert for one key and tries a webhook on this machine, without a fault in both themes", async () => {
    const fleet = await service();
    const operator = fleet.operator();
    const email = `${crypto.randomUUID()}@example.test`;
    const { id: workspace } = await operator.call<{ id: string }>("POST", "/workspaces", { name: `alerts ${email}` });
    await operator.call("POST", "/members", { workspace, email, role: "admin" });
    await operator.call("POST", "/keys", { workspace, owner: email, name: "nightly", monthly_spend_limit_usd: "5" });
    const heard: string[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        heard.push(await request.text());
        return new Response(null, { status: 204 });
      },
    });
    atEnd(() => receiver.stop(true));
    await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, email);
    const page = await visitor.open(`/console/w/${workspace}/alerts`);
    const audit = async () => {
      for (const [colorScheme, width] of [
        ["light", 1_280],
        ["dark", 320],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect([page.url(), await visitor.audit(), await visitor.overflow()]).toEqual([page.url(), [], 0]);
      }
    };

    await enter(page.getByRole("link", { name: "Set an alert" }).first());
    await page.waitForURL(/\/alerts\/new$/);
    await audit();
    await enter(page.getByRole("link", { name: "Monthly limit of a key" }));
    await page.getByRole("combobox", { name: "Key" }).selectOption({ label: `nightly (${email})` });
    await audit();
    await enter(page.getByRole("button", { name: "Set it" }));
    await page.getByText("The alert is set.").first().waitFor();
    await page.getByText("only key-").waitFor();

    await enter(page.getByRole("link", { name: "Add a webhook" }).first());
    await audit();
    await enter(page.getByRole("link", { name: "Slack" }));
    await page.getByRole("textbox", { name: "Webhook URL" }).fill(`http://127.0.0.1:${receiver.port}/services/secret`);
    await page.getByRole("textbox", { name: "Name" }).fill("#alerts");
    await audit();
    await enter(page.getByRole("button", { name: "Add it" }));
    await page.getByRole("heading", { level: 1, name: "#alerts" }).waitFor();
    await enter(page.getByRole("button", { name: "Send a test" }));
    await page.getByText("The webhook accepted the test.").first().waitFor();
    expect(heard.map((body) => JSON.parse(body).blocks[0].text.text)).toEqual(["Test"]);
    expect(await page.content()).not.toContain("services/secret");
    expect(visitor.faults).toEqual([]);
  });
});
