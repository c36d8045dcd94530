/** Webhooks of alerts, with real TLS: signed, repeated for a day, and never into a private network. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { alertKindNames } from "../../../src/accounts/alerts/kinds.ts";
import { raiseAlert } from "../../../src/accounts/alerts/alerts.ts";
import { bodyIn, pagerDutyUrls } from "../../../src/accounts/alerts/webhook-formats.ts";
import { sendDeliveries, webhookFetch } from "../../../src/accounts/alerts/deliveries.ts";
import {
  alertAnswerBytesMax,
  alertCallMs,
  alertDeliveriesWaitingMax,
  alertDeliveryMsMax,
  alertRetryMs,
  alertRetryMsMax,
  alertSecretOverlapMs,
  alertTestsPerHourMax,
} from "../../../src/accounts/limits.ts";
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from "../../../src/http/safe-fetch.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { selfSigned } from "../../support/servers/self-signed.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";

const host = "hooks.weir-test.example";
const secure = selfSigned(host);

interface Got {
  body: string;
  headers: IncomingHttpHeaders;
}

/** The function that docs/how-to/be-alerted.md shows. */
async function documentedCheck(): Promise<(body: string, header: string, secret: string, nowMs: number) => boolean> {
  const text = readFileSync(new URL("../../../docs/how-to/be-alerted.md", import.meta.url), "utf8");
  const [, code = ""] = /```ts\n([^]*?)```/.exec(text) ?? [];
  const file = join(await temporaryFolder("alerts"), "is-from-weir.ts");
  await Bun.write(file, code);
  return (await import(file)).isFromWeir;
}

test("docs/how-to/be-alerted.md names every kind of alert", () => {
  const text = readFileSync(new URL("../../../docs/how-to/be-alerted.md", import.meta.url), "utf8");
  expect(alertKindNames.filter((kind) => !text.includes(`\`${kind}\``))).toEqual([]);
});

describe.each(oneDatabase)("webhooks of alerts on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let server: Server;
  let port: number;
  let answer: (response: ServerResponse) => void;
  const got: Got[] = [];
  const fine = (response: ServerResponse) => void response.writeHead(204).end();

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    control.callWebhook = fetchWith();
    server = createServer({ ...secure }, (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      request.on("end", () => {
        got.push({ body, headers: request.headers });
        answer(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  }, 60_000);
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await database[Symbol.asyncDispose]();
  });

  const fetchWith = (options: Partial<SafeFetchOptions> = {}) =>
    createSafeFetch({
      clock: control.clock,
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
      isAllowedAddress: () => true,
      authorities: String(secure.cert),
      ...options,
    });
  const send = (callWebhook = fetchWith()) =>
    sendDeliveries({ sql: database.sql, clock: control.clock, log: silentLog, keyring: control.keyring, callWebhook });

  let made = 0;
  /** A workspace whose webhook gets its events. */
  async function customer(url = `https://${host}:${port}/hook`) {
    const name = `hooked${++made}`;
    const workspace = await control.workspace(name);
    await control.expect("POST", "/alert-rules", { body: { workspace: name, kind: "top_up_failed" } });
    const { id, secret } = await control.expect("POST", "/alert-webhooks", { body: { workspace: name, url } });
    got.length = 0;
    answer = fine;
    const raise = (occurrence = "1") =>
      database.sql.begin((tx) => {
        const event = {
          workspace,
          kind: "top_up_failed",
          subject: "top-1",
          occurrence,
          data: { top_up: { id: "top-1" } },
        } as const;
        return raiseAlert(
          { ...event, text: "The top-up failed", mail: { subject: "A top-up failed", body: "" } },
          { sql: tx, clock: control.clock },
        );
      });
    const delivery = async (): Promise<Record<string, unknown> & { alert: string }> => {
      const [alert] = await control.list(`/alerts?workspace=${name}`);
      const [first] = (alert?.["deliveries"] ?? []) as Record<string, unknown>[];
      return { alert: String(alert?.["id"]), ...first };
    };
    return { name, id: String(id), secret: String(secret), raise, delivery };
  }

  test("an alert arrives once though two processes deliver, signed so that the example of docs/how-to/be-alerted.md takes it, and refuses what was changed or is old", async () => {
    const { name, raise, secret, delivery } = await customer();
    await raise();
    expect((await Promise.all([send(), send()])).toSorted()).toEqual([0, 1]);
    expect(got).toHaveLength(1);
    expect(await delivery()).toMatchObject({ state: "delivered", status: 204, attempts: 1, next_at: null });
    const [{ body, headers } = { body: "", headers: {} }] = got;
    expect(JSON.parse(body)).toEqual({
      id: (await delivery()).alert,
      type: "top_up_failed",
      created_at: new Date(control.clock.now()).toISOString(),
      workspace: { id: expect.stringMatching(/^ws-/), name },
      text: "The top-up failed",
      data: { top_up: { id: "top-1" } },
    });
    const isFromWeir = await documentedCheck();
    const header = String(headers["weir-signature"]);
    const now = control.clock.now();
    expect(isFromWeir(body, header, secret, now)).toBe(true);
    expect(isFromWeir(`${body} `, header, secret, now)).toBe(false);
    expect(isFromWeir(body, header, `${secret}x`, now)).toBe(false);
    expect(isFromWeir(body, header, secret, now + 301_000)).toBe(false);
    expect(isFromWeir(body, "", secret, now)).toBe(false);
  });

  test("a webhook that answers 500 for a day gets the same event ever less often, then it is given up, and a replay sends it again", async () => {
    const { name, raise, delivery } = await customer();
    answer = (response) => void response.writeHead(500).end();
    await raise();
    const startedAt = control.clock.now();
    const attempts: number[] = [];
    while ((await delivery())["state"] !== "given_up") {
      if ((await send()) > 0) attempts.push(control.clock.now() - startedAt);
      const next = (await delivery())["next_at"];
      if (next) control.clock.advance(Date.parse(String(next)) - control.clock.now());
    }
    expect(attempts.slice(0, 4)).toEqual([0, alertRetryMs, 3 * alertRetryMs, 7 * alertRetryMs]);
    const pauses = attempts.map((at, index) => at - (attempts[index - 1] ?? 0));
    expect(Math.max(...pauses)).toBe(alertRetryMsMax);
    expect(attempts.at(-1)).toBeLessThanOrEqual(alertDeliveryMsMax);
    expect(attempts.at(-1)).toBeGreaterThan(alertDeliveryMsMax - alertRetryMsMax);
    expect(await delivery()).toMatchObject({ status: 500, failure: null, attempts: attempts.length, next_at: null });
    answer = fine;
    control.clock.advance(alertDeliveryMsMax);
    expect(await send()).toBe(0);
    const { alert } = await delivery();
    await control.expect("POST", `/alerts/${alert}/replay`, { as: `admin@${name}`, body: {} });
    expect(control.notified.count("alert-waits")).toBeGreaterThan(0);
    expect(await send()).toBe(1);
    expect(await delivery()).toMatchObject({ state: "delivered", attempts: 1 });
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    expect(new Set(got.map(({ headers }) => headers["weir-signature"])).size).toBe(got.length);
  });

  test("a webhook that hangs is left after ten seconds and holds up no other", async () => {
    const hanging = await customer();
    await hanging.raise();
    const other = await customer(`https://${host}:${port}/other`);
    await other.raise();
    answer = (response) => {
      if (response.req.url === "/other") fine(response);
    };
    const sent = send();
    await until(() => got.length === 2);
    await until(async () => (await other.delivery())["state"] === "delivered");
    expect(await send()).toBe(0);
    control.clock.advance(alertCallMs);
    expect(await sent).toBe(2);
    expect(await hanging.delivery()).toMatchObject({ state: "waiting", status: null, failure: "timeout" });
  });

  test("a redirect into a private network is not followed, and an answer is read only so far", async () => {
    const { raise, delivery } = await customer();
    await raise();
    answer = (response) => void response.writeHead(302, { location: `https://127.0.0.1:${port}/private` }).end();
    await send();
    expect(await delivery()).toMatchObject({ state: "waiting", status: 302 });
    expect(got).toHaveLength(1);
    answer = (response) => void response.end("a".repeat(alertAnswerBytesMax + 1));
    control.clock.advance(alertRetryMs);
    await send();
    expect(await delivery()).toMatchObject({ state: "waiting", status: null, failure: "answer_too_large" });
  });

  test("private addresses are refused when they are set, and when a name leads to one at the delivery", async () => {
    const { name, raise, delivery } = await customer();
    const refused = (url: string) => control.refusal("POST", "/alert-webhooks", { body: { workspace: name, url } });
    const inside = [
      "https://127.0.0.1/",
      "https://0x7f000001/",
      "https://[::ffff:10.0.0.1]/",
      "https://weir.internal/",
      "https://db/",
    ];
    const malformed = [`http://${host}/`, "https://user:word@example.com/", "https://example.com/?token=1", "hooks"];
    for (const url of [...inside, ...malformed]) expect([url, await refused(url)]).toEqual([url, "400 invalid_field url"]);
    await raise();
    await send(createSafeFetch({ clock: control.clock, resolve: async () => [{ address: "10.0.0.1", family: 4 }] }));
    expect(await delivery()).toMatchObject({ state: "waiting", failure: "private_address" });
    expect(got).toHaveLength(0);
  });

  test("a secret is shown once and stored sealed; a new one signs beside the former one for a day", async () => {
    const { name, id, secret, raise } = await customer();
    const isFromWeir = await documentedCheck();
    const rotated = await control.expect("POST", `/alert-webhooks/${id}/rotate`, { as: `admin@${name}`, body: {} });
    expect(JSON.stringify(await control.list(`/alert-webhooks?workspace=${name}`))).not.toContain("whsec_");
    const [stored] = await database.sql`SELECT sealed, former FROM alert_webhooks WHERE id = ${id}`;
    expect(Buffer.concat(Object.values(stored ?? {}).map((part) => Buffer.from(part as Uint8Array))).toString()).not.toContain(
      "whsec_",
    );
    const taken = async (occurrence: string) => {
      got.length = 0;
      await raise(occurrence);
      await send();
      // The day may bring others their next attempt.
      const mine = got.find(({ body }) => body.includes(name));
      const header = String(mine?.headers["weir-signature"]);
      return [secret, String(rotated["secret"])].map((one) => isFromWeir(mine?.body ?? "", header, one, control.clock.now()));
    };
    expect(await taken("1")).toEqual([true, true]);
    control.clock.advance(alertSecretOverlapMs);
    expect(await taken("2")).toEqual([false, true]);
  });

  test("a test is sent at once, tells the answer and is not repeated; so many in an hour", async () => {
    const { name, id } = await customer();
    const tried = () => control.call("POST", `/alert-webhooks/${id}/test`, { as: `admin@${name}`, body: {} });
    expect((await tried()).body).toMatchObject({ kind: "test", deliveries: [{ state: "delivered", status: 204 }] });
    answer = (response) => void response.writeHead(503).end();
    expect((await tried()).body).toMatchObject({ deliveries: [{ state: "given_up", status: 503, next_at: null }] });
    for (let sent = 2; sent < alertTestsPerHourMax; sent++) await tried();
    const waits = await tried();
    expect([waits.status, waits.headers.get("retry-after")]).toEqual([429, "3600"]);
  });

  test("Slack, Teams and PagerDuty get the messages that they document, unsigned; no answer shows their secret", async () => {
    const { name } = await customer();
    await control.key(name, {});
    const secret = {
      slack: "/services/T0/B0/x",
      teams: "/invoke?api-version=1&sig=x",
      pagerduty: "0123456789abcdef0123456789abcdef",
    };
    const url = `https://${host}:${port}`;
    const forms = [
      { format: "slack", name: "#alerts", url: url + secret.slack },
      { format: "teams", url: url + secret.teams },
      { format: "pagerduty", integration_key: secret.pagerduty },
    ];
    const called: { url: string; headers: Record<string, string>; body: Record<string, unknown> }[] = [];
    const callWebhook: SafeFetch = async ({ url, headers, body = "" }) => {
      called.push({ url: url.href, headers, body: JSON.parse(body) });
      return { status: 202, headers: {}, body: Buffer.from("") };
    };
    control.callWebhook = callWebhook;
    for (const form of forms) {
      const made = await control.expect("POST", "/alert-webhooks", { body: { workspace: name, ...form } });
      expect(made["secret"]).toBeNull();
      await control.expect("POST", `/alert-webhooks/${String(made["id"])}/test`, { body: {} });
      expect(await control.refusal("POST", `/alert-webhooks/${String(made["id"])}/rotate`, { body: {} })).toBe(
        "409 conflict null",
      );
    }
    control.callWebhook = fetchWith();
    expect(called.map((call) => call.url)).toEqual([url + secret.slack, url + secret.teams, pagerDutyUrls.us]);
    expect(called.flatMap(({ headers }) => Object.keys(headers))).toEqual(called.map(() => "content-type"));
    const [slack, teams, pagerduty] = called.map(({ body }) => body);
    expect(slack).toMatchObject({
      text: `${name}: This is a test`,
      blocks: [{ type: "header", text: { type: "plain_text", text: "Test" } }, { type: "section" }, { type: "context" }],
    });
    expect(teams).toMatchObject({
      type: "message",
      attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content: { type: "AdaptiveCard" } }],
    });
    expect(pagerduty).toMatchObject({
      routing_key: secret.pagerduty,
      event_action: "trigger",
      dedup_key: expect.stringMatching(/^alert-/),
      payload: { summary: "This is a test", source: `Weir, workspace ${name}`, severity: "info" },
    });
    const listed = JSON.stringify(await control.list(`/alert-webhooks?workspace=${name}`));
    const [stored] = await database.sql<{ rows: string }[]>`
      SELECT coalesce(json_agg(w), '[]')::text AS rows FROM alert_webhooks w WHERE name = '#alerts' OR format <> 'weir'`;
    for (const one of Object.values(secret)) expect([listed.includes(one), stored?.rows.includes(one)]).toEqual([false, false]);
  });

  test("names cannot mention a channel in Slack, or become a link in Teams", () => {
    const text = '50 % of the limit of the key "<!channel> [x](https://evil.example)" is spent';
    const body = JSON.stringify({ id: "alert-1", type: "key_month", created_at: "", workspace: { name: "a&b" }, text, data: {} });
    const slack = bodyIn("slack", { body, secret: "" });
    expect(JSON.parse(slack)).toMatchObject({
      text: expect.stringContaining('a&amp;b: 50 % of the limit of the key "&lt;!channel&gt;'),
    });
    expect(slack).not.toContain("mrkdwn");
    expect(bodyIn("teams", { body, secret: "" })).not.toContain('TextBlock","text');
  });

  test("a webhook on this machine is called only where no other machine reaches the service", async () => {
    const { name } = await customer();
    const heard: string[] = [];
    const near = createHttpServer((request, response) => {
      heard.push(String(request.headers["weir-signature"]).slice(0, 2));
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => near.listen(0, "127.0.0.1", resolve));
    const url = `http://localhost:${(near.address() as AddressInfo).port}/`;
    const body = { workspace: name, url };
    expect(await control.refusal("POST", "/alert-webhooks", { body })).toBe("400 invalid_field url");
    control.parts.isLocal = true;
    const { id } = await control.expect("POST", "/alert-webhooks", { body });
    expect(await control.refusal("POST", "/alert-webhooks", { body: { ...body, url: "http://10.0.0.1/" } })).toBe(
      "400 invalid_field url",
    );
    control.parts.isLocal = false;
    const outcomes = [];
    for (const isLocal of [false, true]) {
      control.callWebhook = webhookFetch({ clock: control.clock, isLocal });
      const { deliveries } = await control.expect("POST", `/alert-webhooks/${String(id)}/test`, { body: {} });
      outcomes.push(deliveries);
    }
    control.callWebhook = fetchWith();
    near.close();
    expect(outcomes).toMatchObject([[{ failure: "private_address" }], [{ state: "delivered", status: 204 }]]);
    expect(heard).toEqual(["t="]);
  });

  test("a full queue takes no further delivery, and says so", async () => {
    const { raise, delivery, name } = await customer();
    await raise();
    await database.sql`
      WITH copied AS (
        INSERT INTO alerts SELECT id || n, workspace_id, kind, rule_id, subject, n::text, percent, text, body, mails
        FROM alerts, generate_series(2, ${alertDeliveriesWaitingMax}) AS n WHERE body LIKE ${`%"${name}"%`} RETURNING id)
      INSERT INTO alert_deliveries (alert_id, webhook_id, state, attempts, due_at, until)
      SELECT copied.id, webhook_id, state, attempts, due_at, until FROM copied, alert_deliveries d
      WHERE d.alert_id = ${(await delivery()).alert}`;
    control.clock.advance(1);
    await raise("last");
    expect(await delivery()).toMatchObject({ state: "given_up", failure: "queue_full", attempts: 0, status: null });
  });

  test("auditors see the host of a webhook alone; members, auditors and strangers do nothing with it", async () => {
    const { name, id } = await customer();
    const other = await customer();
    const [seen] = await control.list(`/alert-webhooks?workspace=${name}`, { as: `auditor@${name}` });
    expect(seen?.["url"]).toBe(`https://${host}:${port}/…`);
    const steps = [
      ["POST", `/alert-webhooks/${id}/rotate`],
      ["POST", `/alert-webhooks/${id}/test`],
      ["DELETE", `/alert-webhooks/${id}`],
    ] as const;
    for (const [method, path] of steps) {
      for (const as of [`member@${name}`, `auditor@${name}`]) {
        expect(await control.refusal(method, path, { as })).toBe("403 forbidden null");
      }
      expect(await control.refusal(method, path, { as: `admin@${other.name}` })).toBe("404 not_found id");
    }
    await control.expect("DELETE", `/alert-webhooks/${id}`, { as: `admin@${name}` });
    expect(await control.refusal("POST", `/alert-webhooks/${id}/test`, { as: `admin@${name}` })).toBe("404 not_found id");
  });
});
