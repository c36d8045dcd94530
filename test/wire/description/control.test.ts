/** The control API and the tools API: answers match the service's OpenAPI document, for every operation. */
import { beforeAll, expect, test } from "bun:test";
import type { DocumentedApi } from "../../support/documented-api.ts";
import type { Customer } from "../../support/operator.ts";
import { tarOf } from "../../support/security/archives.ts";
import { bomJson } from "../../support/security/sbom-documents.ts";
import { jsonOf } from "../../support/described.ts";
import { toolsInputs } from "../../support/security/tools-inputs.ts";
import { until } from "../../support/until.ts";
import { gemfileLock } from "../stage.ts";
import { askSessions } from "../../support/sign-in/ask-sessions.ts";
import { describedService, expectAllCalled } from "./described-service.ts";
import type { Stage } from "../stage.ts";

const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };

let on: Stage;
let api: DocumentedApi;
let customer: Customer;
let key: string;
const ask: DocumentedApi["ask"] = (...asked) => api.ask(...asked);

beforeAll(async () => {
  ({ on, api, customer, key } = await describedService());
}, 90_000);

test("a request of the Workbench matches the document, streamed or not, and its refusals", async () => {
  const operation = "post /api/console/workbench";
  const headers = { "x-act-as": "owner@example.test" };
  const asked = { key: on.fleet.operator().token, query: `?workspace=${customer.workspace}`, headers };
  await ask(operation, 200, { ...asked, body: chat });
  const options = { stream: true, stream_options: { include_usage: true } };
  expect(await ask(operation, 200, { ...asked, body: { ...chat, ...options } })).toMatchObject({ usage: { total_tokens: 4 } });
  await ask(operation, 400, { ...asked, body: "no JSON" });
  await ask(operation, 400, { ...asked, query: "", body: chat });
  await ask(operation, 401, { key, body: chat });
  await ask(operation, 403, { ...asked, headers: {}, body: chat });
  await ask(operation, 404, { ...asked, body: { ...chat, model: "acme/none" } });
});

test("workspaces, members and accounts match the document", async () => {
  const { id: workspace } = await ask("post /api/console/workspaces", 201, {
    body: { name: `described ${crypto.randomUUID()}` },
  });
  const id = String(workspace);
  await ask("get /api/console/workspaces", 200);
  await ask("get /api/console/workspaces/{id}", 200, { id });
  await ask("get /api/console/workspaces/{id}", 404, { id: "none" });
  await ask("patch /api/console/workspaces/{id}", 200, { id, body: { spend_limit_usd: "12.50" } });
  await ask("patch /api/console/workspaces/{id}", 400, { id, body: { limit: "12.50" } });
  const email = `${crypto.randomUUID()}@example.test`;
  await ask("post /api/console/members", 201, { body: { workspace, email, role: "member" } });
  await ask("post /api/console/members", 409, { body: { workspace, email, role: "member" } });
  await ask("get /api/console/members", 200, { query: `?workspace=${id}` });
  await ask("patch /api/console/members/{id}", 200, { id: email, body: { workspace, role: "auditor" } });
  await ask("post /api/console/members/{id}/link", 409, { id: email, body: { workspace } });
  await ask("post /api/console/members/{id}/deactivate", 200, { id: email, body: { workspace } });
  await ask("post /api/console/members/{id}/reactivate", 200, { id: email, body: { workspace } });
  for (const verb of ["reset", "suspend", "unsuspend", "lock", "unlock", "delete"]) {
    await ask(`post /api/console/accounts/{id}/${verb}`, 200, { id: email, body: {} });
  }
});

test("sessions, second factors and the state of the service match the document", async () => {
  await askSessions(api, { url: on.fleet.url(), email: "owner@example.test" });
  await ask("get /api/console/service", 200);
  await ask("get /api/console/status", 200);
});

test("billing details match the document", async () => {
  const { workspace } = customer;
  await ask("patch /api/console/billing", 200, { body: { workspace, name: "Acme", address: "1 Way\nTown" } });
  await ask("get /api/console/billing", 200, { query: `?workspace=${workspace}` });
  await ask("patch /api/console/seller", 200, { body: { name: "Weir", tax_name: "VAT", tax_percent: "8.1" } });
  await ask("patch /api/console/seller", 400, { body: { tax_percent: "0" } });
  await ask("get /api/console/seller", 200);
  await ask("patch /api/console/seller", 200, { body: { name: "", tax_name: "", tax_percent: null } });
});

test("the checklist matches the document", async () => {
  const { workspace } = customer;
  await ask("get /api/console/checklist", 200, { query: `?workspace=${workspace}` });
  await ask("patch /api/console/checklist", 200, { body: { workspace, hidden: true } });
});

test("saved views match the document", async () => {
  const { workspace } = customer;
  const as = { key: on.fleet.operator().token, headers: { "x-act-as": "owner@example.test" } };
  const query = `?workspace=${workspace}`;
  const view = { workspace, list: "findings", name: "Urgent", query: "severity=critical" };
  const id = String((await ask("post /api/console/views", 201, { ...as, body: view }))["id"]);
  await ask("post /api/console/views", 400, { ...as, body: { ...view, list: "none" } });
  await ask("post /api/console/views", 403, { body: view });
  await ask("get /api/console/views", 200, { ...as, query });
  await ask("patch /api/console/views/{id}", 200, { ...as, id, body: { workspace, default: true } });
  await ask("patch /api/console/views/{id}", 404, { ...as, id: "view-none", body: { workspace, default: true } });
  await ask("delete /api/console/views/{id}", 200, { ...as, id, query });
  await ask("delete /api/console/views/{id}", 404, { ...as, id, query });
});

test("the sample data matches the document", async () => {
  const { workspace } = customer;
  await ask("post /api/console/sample", 200, { body: { workspace } });
  await ask("get /api/console/sample", 200, { query: `?workspace=${workspace}` });
  await ask("delete /api/console/sample", 200, { query: `?workspace=${workspace}` });
});

test("the evidence pack matches the document", async () => {
  await ask("get /api/console/evidence", 200, { query: `?workspace=${customer.workspace}` });
});

test("keys and credit match the document", async () => {
  const { workspace } = customer;
  const form = { workspace, owner: "owner@example.test", monthly_spend_limit_usd: "1.50", rate_limit_rpm: 5 };
  const { id: made } = await ask("post /api/console/keys", 201, { body: form });
  const id = String(made);
  await ask("get /api/console/keys", 200, { query: `?workspace=${workspace}` });
  await ask("get /api/console/keys/{id}", 200, { id });
  await ask("patch /api/console/keys/{id}", 200, { id, body: { name: "" } });
  await ask("post /api/console/keys/{id}/revoke", 200, { id, body: {} });
  await ask("post /api/console/credit", 200, { body: { workspace, usd: "0.5", ref: crypto.randomUUID() } });
  await ask("get /api/console/credit", 200, { query: `?workspace=${workspace}` });
  await ask("get /api/console/credit", 401, { key: "none" });
});

test("the log, stored prompts and the audit log match the document", async () => {
  const query = `?workspace=${customer.workspace}`;
  await until(async () => (await on.fleet.operator().log(query.slice(1))).length > 0);
  const [row] = await on.fleet.operator().log(query.slice(1));
  const id = row?.generation_id ?? "";
  const key = customer.keys[0]?.key ?? "";
  await fetch(`${on.fleet.url()}/gpt/v1/chat/completions`, { method: "POST", headers: { authorization: `Bearer ${key}` } });
  const refused = async () => (await on.fleet.operator().call("GET", `/refusals${query}`))["data"] as { request_id: string }[];
  await until(async () => (await refused()).length > 0);
  await ask("get /api/console/refusals/{id}", 200, { id: (await refused())[0]?.request_id ?? "" });
  await ask("get /api/console/refusals/counts", 200, { query: `${query}&by=key,day` });
  for (const path of ["log", "refusals", "usage"]) await ask(`get /api/console/${path}`, 200, { query });
  for (const measure of ["spend", "first_token"])
    await ask("get /api/console/usage/chart", 200, { query: `${query}&measure=${measure}&before=true` });
  await ask("get /api/console/usage/chart", 400, { query });
  await ask("get /api/console/log/{id}", 200, { id });
  await ask("get /api/console/log/{id}", 200, { id: row?.request_id ?? "" });
  await until(async () => (await on.fleet.operator().send(`/api/console/prompts/${id}`)).ok);
  await ask("get /api/console/prompts/{id}", 200, { id });
  await ask("get /api/console/prompts", 200, { query });
  await ask("post /api/console/prompts/delete", 200, { body: { id } });
  await ask("get /api/console/audit", 200, { query });
});

test("statements of usage match the document", async () => {
  const { workspace } = customer;
  const query = `?workspace=${workspace}`;
  await ask("get /api/console/statements", 404, { query });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["usage_statements"] });
  const { data } = await ask("get /api/console/statements", 200, { query });
  const id = String(jsonOf(Array.isArray(data) ? data[0] : null)["number"]);
  await ask("get /api/console/statements/{id}", 200, { id, query });
  await ask("get /api/console/statements/{id}", 200, { id, query: `${query}&format=csv` });
  await ask("get /api/console/statements/{id}", 404, { id: "2026-13", query });
  await ask("post /api/console/statements/close", 200, { body: { workspace } });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: [] });
});

test("models, the ledger and secrets match the document, including progress streams", async () => {
  await ask("get /api/console/models", 200);
  await ask("get /api/console/models", 200, { query: `?workspace=${customer.workspace}` });
  const accept = "application/x-ndjson";
  await ask("post /api/console/models/check", 200, { body: { id: "openai/model" } });
  await ask("post /api/console/models/check", 200, { body: { id: "openai/model" }, accept });
  expect(await ask("get /api/console/ledger/verify", 200)).toMatchObject({ ok: true });
  expect(await ask("get /api/console/ledger/verify", 200, { accept })).toMatchObject({ result: { ok: true } });
  for (const [status, asked] of [
    [200, { body: { months: 1200 }, accept }],
    [400, { body: { months: 1 } }],
  ] as const)
    await ask("post /api/console/log/retain", status, asked);
  await ask("post /api/console/secrets/rotate", 200, { body: {} });
});

test("connections match the document", async () => {
  const { workspace } = customer;
  const credentials = { datadog_site: "none.example", api_key: "a", application_key: "b" };
  const form = { workspace, connector: "datadog", credentials };
  const { id: made } = await ask("post /api/console/connections", 201, { body: form });
  const id = String(made);
  await ask("post /api/console/connections", 400, { body: { ...form, credentials: {} } });
  await ask("get /api/console/connections", 200, { query: `?workspace=${workspace}` });
  await ask("get /api/console/connections/{id}", 200, { id });
  await ask("get /api/console/connections/{id}", 404, { id: "con-none" });
  await ask("patch /api/console/connections/{id}", 200, { id, body: { name: "Main account" } });
  await ask("patch /api/console/connections/{id}", 404, { id: "con-none", body: { name: "Main account" } });
  await ask("put /api/console/connections/{id}/credentials", 200, { id, body: { credentials } });
  await ask("put /api/console/connections/{id}/credentials", 404, { id: "con-none", body: { credentials } });
  expect(await ask("post /api/console/connections/{id}/test", 200, { id, body: {} })).toMatchObject({ outcome: "unusable" });
  await ask("delete /api/console/connections/{id}", 200, { id, query: `?workspace=${workspace}` });
  await ask("delete /api/console/connections/{id}", 404, { id });
});

test("people of connections match the document", async () => {
  const { workspace } = customer;
  // The domain is not the vendor's, so that no call is made.
  const form = { workspace, connector: "okta", credentials: { okta_domain: "none.example", api_token: "a" } };
  const id = String((await ask("post /api/console/connections", 201, { body: form }))["id"]);
  await ask("get /api/console/connections/{id}/people", 404, { id });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["people"] });
  expect(await ask("get /api/console/connections/{id}/people", 200, { id })).toMatchObject({ reading: null });
  const read = await ask("post /api/console/connections/{id}/people", 200, { id, body: {} });
  expect(read).toMatchObject({ failure: { outcome: "unusable" } });
  for (const format of ["csv", "ndjson"])
    await ask("get /api/console/connections/{id}/people", 200, { id, query: `?format=${format}` });
  await ask("delete /api/console/connections/{id}/people", 200, { id });
});

test("alerts match the document", async () => {
  const { workspace } = customer;
  const { id: rule } = await ask("post /api/console/alert-rules", 201, { body: { workspace, kind: "key_month" } });
  await ask("post /api/console/alert-rules", 409, { body: { workspace, kind: "key_month" } });
  await ask("get /api/console/alert-rules", 200, { query: `?workspace=${workspace}` });
  await ask("patch /api/console/alert-rules/{id}", 200, { id: String(rule), body: { percents: [90] } });
  await ask("delete /api/console/alert-rules/{id}", 200, { id: String(rule) });
  const { id: made } = await ask("post /api/console/alert-webhooks", 201, {
    body: { workspace, url: "https://none.example/hook" },
  });
  const id = String(made);
  await ask("get /api/console/alert-webhooks", 200, { query: `?workspace=${workspace}` });
  await ask("post /api/console/alert-webhooks/{id}/rotate", 200, { id, body: {} });
  const { id: told } = await ask("post /api/console/alert-webhooks/{id}/test", 200, { id, body: {} });
  await ask("get /api/console/alerts", 200, { query: `?workspace=${workspace}` });
  await ask("post /api/console/alerts/{id}/replay", 200, { id: String(told), body: {} });
  await ask("delete /api/console/alert-webhooks/{id}", 200, { id, query: `?workspace=${workspace}` });
});

test("own provider keys match the document", async () => {
  const { workspace } = customer;
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["own_keys"] });
  const form = { workspace, provider: "openai", key: "sk-of-the-customer" };
  const { id: made } = await ask("post /api/console/provider-keys", 201, { body: form });
  const id = String(made);
  await ask("post /api/console/provider-keys", 409, { body: form });
  await ask("post /api/console/provider-keys", 400, { body: { ...form, key: "short" } });
  await ask("get /api/console/provider-keys", 200, { query: `?workspace=${workspace}` });
  await ask("get /api/console/workspaces/{id}/retention", 200, { id: workspace });
  await ask("put /api/console/provider-keys/{id}", 200, { id, body: { key: "sk-of-the-customer-2" } });
  await ask("post /api/console/provider-keys/{id}/test", 200, { id, body: { model: "openai/model" } });
  await ask("post /api/console/provider-keys/{id}/disable", 200, { id, body: {} });
  await ask("delete /api/console/provider-keys/{id}", 200, { id, query: `?workspace=${workspace}` });
  await ask("delete /api/console/provider-keys/{id}", 404, { id });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: [] });
});

test("providers match the document", async () => {
  const id = "openai";
  const acts = { terms_checked: true, subprocessor_listed: true };
  await ask("get /api/console/providers", 200);
  await ask("put /api/console/providers/{id}", 200, { id, body: { key: "sk-of-the-service", ...acts } });
  await ask("put /api/console/providers/{id}", 400, { id, body: { terms_checked: true } });
  await ask("put /api/console/providers/{id}", 404, { id: "none", body: acts });
  await ask("post /api/console/providers/{id}/test", 200, { id, body: {} });
  await ask("post /api/console/providers/{id}/disable", 200, { id, body: {} });
  await ask("post /api/console/providers/{id}/enable", 200, { id, body: {} });
  await ask("delete /api/console/providers/{id}", 200, { id });
});

test("top-ups by card match the document", async () => {
  const { workspace } = customer;
  const { id: made } = await ask("post /api/console/top-ups", 201, { body: { workspace, usd: "20" } });
  const id = String(made);
  await ask("post /api/console/top-ups", 400, { body: { workspace, usd: "4.99" } });
  on.stripe.account.pay(on.stripe.account.pageOf(id));
  expect(await ask("get /api/console/top-ups/{id}", 200, { id })).toMatchObject({ state: "credited" });
  await ask("get /api/console/top-ups/{id}", 404, { id: "top-none" });
  await ask("get /api/console/top-ups", 200, { query: `?workspace=${workspace}` });
  await ask("patch /api/console/top-up-settings", 200, { body: { workspace, threshold_usd: "5" } });
  await ask("patch /api/console/top-up-settings", 400, { body: { workspace, threshold_usd: "4" } });
  await ask("get /api/console/top-up-settings", 200, { query: `?workspace=${workspace}` });
  await ask("post /api/console/top-ups/{id}/refund", 200, { id, body: { usd: "1" } });
  await ask("post /api/console/top-ups/{id}/refund", 400, { id, body: { usd: "20" } });
});

test("imports of advisories match the document", async () => {
  const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "3.0.9" }] }];
  const affected = [{ package: { ecosystem: "RubyGems", name: "rack" }, ranges }];
  const record = { id: "CVE-2026-0001", modified: "2026-01-01T00:00:00Z", summary: "As described", affected };
  expect(await ask("post /api/console/advisories", 200, { body: { records: [record, {}] } })).toMatchObject({ imported: 1 });
  await ask("post /api/console/advisories", 400, { body: { records: "none" } });
  await ask("get /api/console/advisories", 200);
  const sync = { ecosystem: "RubyGems", etag: '"a1"', published_at: "2026-01-01T00:00:00Z" };
  const { data } = await ask("post /api/console/advisories/syncs", 200, { body: sync });
  expect(Object(data)[5]).toMatchObject({ ecosystem: "RubyGems", etag: '"a1"', newest_record: "2026-01-01T00:00:00.000Z" });
  await ask("post /api/console/advisory-sync", 200, { body: { ecosystems: ["RubyGems"] } });
  for (const path of ["sync", "counts"]) await ask(`get /api/console/advisory-${path}`, 200);
  await ask("post /api/console/advisories/syncs", 400, { body: { ...sync, etag: "two words" } });
});

test("imports of repositories match the document", async () => {
  const { workspace } = customer;
  const imported = await ask("post /api/console/repositories", 201, { body: { workspace, url: "https://github.com/acme/app" } });
  expect(imported).toMatchObject({ components: 2, provider: "github" });
  await ask("post /api/console/repositories", 400, { body: { workspace, url: "https://git.example.com/acme/app" } });
  const archive = tarOf([{ name: "Gemfile.lock", text: gemfileLock }]);
  const query = `?workspace=${workspace}&name=shop`;
  await ask("post /api/console/repositories/archive", 201, { body: archive, query });
  await ask("post /api/console/repositories/archive", 400, { body: new Uint8Array(7), query });
});

test("SBOMs, products and projects match the document", async () => {
  const { workspace } = customer;
  const query = `?workspace=${workspace}`;
  const body = Buffer.from(JSON.stringify(bomJson("1.6")));
  const { project_id } = await ask("post /api/console/sboms", 201, { body, query: `${query}&project=described` });
  await ask("post /api/console/sboms", 400, { body: Buffer.from("none"), query: `${query}&project=described` });
  await ask("post /api/console/products", 201, { body: { workspace, name: "described" } });
  await ask("post /api/console/products", 409, { body: { workspace, name: "described" } });
  await ask("get /api/console/products", 200, { query });
  await ask("get /api/console/projects", 200, { query });
  await ask("get /api/console/scans", 200, { query });
  await ask("get /api/console/components", 200, { query: `${query}&name=left` });
  await ask("get /api/console/components", 400, { query: `${query}&name=pkg:npm` });
  const id = String(project_id);
  await ask("get /api/console/projects/{id}", 200, { id, query });
  await ask("get /api/console/projects/{id}", 404, { id: "none", query });
  for (const part of ["state", "components", "licenses", "fixes", "sboms", "trend", "activity"]) {
    await ask(`get /api/console/projects/{id}/${part}`, 200, { id, query });
    await ask(`get /api/console/projects/{id}/${part}`, 404, { id: "none", query });
  }
  const { data: kept } = await ask("get /api/console/projects/{id}/sboms", 200, { id, query });
  const sbom = String(jsonOf(Array.isArray(kept) ? kept[0] : {})["id"]);
  await ask("get /api/console/projects/{id}/difference", 200, { id, query: `${query}&before=${sbom}&after=${sbom}` });
  await ask("get /api/console/projects/{id}/difference", 404, { id, query: `${query}&before=${sbom}&after=none` });
  await ask("get /api/console/products/{id}", 200, { id: "described", query });
  await ask("get /api/console/products/{id}", 404, { id: "none", query });
  await ask("patch /api/console/projects/{id}", 200, { id, body: { workspace, product: "described" } });
  await ask("patch /api/console/projects/{id}", 404, { id: "prj_none", body: { workspace, product: null } });
  await ask("get /api/console/urgent-findings", 200, { query });
  await ask("get /api/console/urgent-findings", 404, { query: `${query}&project=none` });
  const scores = [{ cve: "CVE-2026-0001", epss: 0.5, percentile: 0.9 }];
  await ask("post /api/console/exploits", 200, { body: { date: "2026-11-26", epss: scores, kev: [], last: true } });
  await ask("post /api/console/exploits", 400, { body: { date: "yesterday" } });
  const vex = await ask("get /api/console/vex", 200, { query: `${query}&project=described` });
  const sent = { body: Buffer.from(JSON.stringify(vex)), query: `${query}&project=described` };
  await ask("post /api/console/vex", 200, sent);
  await ask("post /api/console/vex", 400, { ...sent, body: Buffer.from("none") });
});

test("findings, vulnerabilities and tickets match the document", async () => {
  const { workspace } = customer;
  const query = `?workspace=${workspace}`;
  const first = async () => {
    const { data } = await ask("get /api/console/findings", 200, { query: `${query}&status=live&fixable=true` });
    return jsonOf(Array.isArray(data) ? (data[0] ?? {}) : {});
  };
  await until(async () => "id" in (await first()));
  const { id: finding, cve_id } = await first();
  const id = String(finding);
  await ask("get /api/console/findings", 404, { query: `${query}&project=none` });
  await ask("get /api/console/finding-counts", 200, { query: `${query}&status=live` });
  await ask("get /api/console/finding-counts", 404, { query: `${query}&project=none` });
  await ask("get /api/console/finding-groups", 200, { query: `${query}&by=package` });
  await ask("get /api/console/finding-groups", 400, { query: `${query}&by=project` });
  await ask("get /api/console/findings/{id}", 200, { id, query });
  await ask("get /api/console/findings/{id}", 404, { id: "fnd_none", query });
  await ask("get /api/console/findings/{id}/events", 200, { id, query });
  await ask("get /api/console/findings/{id}/events", 404, { id: "fnd_none", query });
  await ask("patch /api/console/findings", 200, { body: { workspace, findings: [id], note: "Seen" } });
  await ask("patch /api/console/findings", 400, { body: { workspace, findings: [id] } });
  await ask("get /api/console/vulnerabilities", 200, { query });
  await ask("get /api/console/vulnerabilities", 400, { query: `${query}&severity=worst` });
  await ask("get /api/console/vulnerabilities/{id}", 200, { id: String(cve_id), query });
  await ask("get /api/console/vulnerabilities/{id}", 404, { id: "CVE-1999-99999", query });
  await ask("get /api/console/tickets", 200, { query });
  await ask("get /api/console/tickets", 404, { query: `${query}&before=tkt_none` });
  await ask("get /api/console/tickets/{id}", 404, { id: "tkt_none", query });
});

test("the tools API matches the document, including its refusals", async () => {
  const key = await on.fleet.operator().toolsKey({ workspace: customer.workspace, owner: "owner@example.test" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const found = async () => {
    const { data } = await ask("post /api/tools/platform_list_findings", 200, { key, body: {}, headers });
    const { findings } = jsonOf(data);
    return jsonOf(Array.isArray(findings) ? (findings[0] ?? {}) : {});
  };
  await until(async () => "id" in (await found()));
  const { id: finding_id, project_id } = await found();
  for (const [name, body] of Object.entries(toolsInputs({ finding_id, project_id }))) {
    await ask(`post /api/tools/platform_${name}`, 200, { key, body, headers });
    await ask(`post /api/tools/platform_${name}`, 400, { key, body: { unknown: 1 }, headers });
    await ask(`post /api/tools/platform_${name}`, 401, { key: "none", body, headers });
  }
  await ask("post /api/tools-attachments", 200, { key, body: "A file", headers: { "x-attachment-name": "notes.txt" } });
  await ask("post /api/tools-attachments", 400, { key, body: "A file" });
  await ask("post /mcp", 200, { key, body: { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers });
  await ask("post /mcp", 401, { key: "none", body: {}, headers });
});

test("a ticket that the tools API has filed matches the document in the control API", async () => {
  const { workspace } = customer;
  const query = `?workspace=${workspace}`;
  const { data } = await ask("get /api/console/tickets", 200, { query });
  const id = String(jsonOf(Array.isArray(data) ? (data[0] ?? {}) : {})["id"]);
  await ask("get /api/console/tickets/{id}", 200, { id, query });
  await ask("patch /api/console/tickets/{id}", 200, { id, body: { workspace, status: "closed" } });
  await ask("patch /api/console/tickets/{id}", 404, { id: "tkt_none", body: { workspace, status: "closed" } });
});

test("no operation was left out", () => {
  // It makes a link only in a service with one workspace: test/console/members.test.ts.
  const ofOneWorkspace = ["post /api/console/members/{id}/link"];
  expectAllCalled(api, (path) => /^\/(api\/(console|tools)|mcp)\b/.test(path), ofOneWorkspace);
});
