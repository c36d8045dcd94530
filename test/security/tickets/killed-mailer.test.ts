/** A process that is killed after the server accepted a mail and before that is stored. */
import { expect, test } from "bun:test";
import { Fleet } from "../../support/servers/fleet.ts";
import { headerOf, TestMailServer } from "../../support/servers/mail-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

async function toolsKey(fleet: Fleet): Promise<string> {
  const operator = fleet.operator();
  const workspace = await operator.call<{ id: string }>("POST", "/workspaces", { name: "mailed" });
  await operator.call("POST", "/members", { workspace: workspace.id, email: "owner@example.test", role: "member" });
  return operator.toolsKey({ workspace: workspace.id, owner: "owner@example.test" });
}

async function reportBug(fleet: Fleet, key: string, happened: string): Promise<string> {
  const response = await fetch(`${fleet.url()}/api/tools/platform_report_bug`, {
    method: "POST",
    headers: { authorization: key, "content-type": "application/json" },
    body: JSON.stringify({ expected_behavior: "One mail", actual_behavior: happened }),
  });
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: { ticket_id: string } };
  return `<${data.ticket_id}@example.test>`;
}

test("a process that is killed after a mail was accepted sends it once more with the same Message-ID after its restart", async () => {
  await using folder = await temporaryFolder();
  await using server = await TestMailServer.start();
  const environment = { SMTP_URL: server.url, MAIL_FROM: "Weir <weir@example.test>", LOG_LEVEL: "info" };
  const plan = { services: null, dataDir: folder.path, environment };
  const ids = () => server.taken.map((mail) => headerOf(mail, "Message-ID"));
  let key = "";
  let first = "";
  {
    await using fleet = await Fleet.start(plan);
    const [gateway] = fleet.gateways;
    // The server has the whole mail and has not replied yet: the process cannot have stored that it is sent.
    server.onMessage = () => gateway?.process.kill();
    key = await toolsKey(fleet);
    first = await reportBug(fleet, key, "Two mails");
    await until(() => server.taken.length === 1);
    await gateway?.process.exited;
  }
  server.onMessage = () => {};
  await using fleet = await Fleet.start({ ...plan, inTest: true });
  await until(() => fleet.gateways[0]?.output.includes("mail.sent") === true, 50_000);
  expect(ids()).toEqual([first, first]);
  // Mails are sent in order: another copy of the first mail would come before this one.
  const second = await reportBug(fleet, key, "No third");
  await until(() => server.taken.length > 2);
  expect(ids()).toEqual([first, first, second]);
}, 60_000);
