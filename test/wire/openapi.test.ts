/** The service's answers match its OpenAPI document, for every operation. */
import { beforeAll, expect, test } from "bun:test";
import { tarOf } from "../support/security/archives.ts";
import { jsonOf } from "../support/described.ts";
import { DocumentedApi, type Asked } from "../support/documented-api.ts";
import type { Customer } from "../support/operator.ts";
import { askSessions } from "../support/sign-in/ask-sessions.ts";
import { bomJson } from "../support/security/sbom-documents.ts";
import { until } from "../support/until.ts";
import { gemfileLock, stage, type Stage } from "./stage.ts";
import { toolsInputs } from "../support/security/tools-inputs.ts";

const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };

let on: Stage;
let api: DocumentedApi;
let customer: Customer;
let key = "";
const ask: DocumentedApi["ask"] = (...asked) => api.ask(...asked);

beforeAll(async () => {
  on = await stage("embedded");
  api = await DocumentedApi.of({ operator: on.fleet.operator(), url: on.fleet.url() });
  customer = await on.fleet.operator().customer({ credit: "5" });
  key = customer.keys[0]?.key ?? "";
  await on.fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { prompt_storage: true });
}, 90_000);

test("a chat completion matches the document, streamed or not, with its usage chunk and an error in the middle", async () => {
  const operation = "post /gpt/v1/chat/completions";
  await ask(operation, 200, { key, body: { ...chat, usage: { include: true } } });
  const options = { stream: true, stream_options: { include_usage: true } };
  expect(await ask(operation, 200, { key, body: { ...chat, ...options } })).toMatchObject({ usage: { total_tokens: 4 } });
  const breaking = [{ role: "user", content: "sandbox: tokens=9 break_after=3" }];
  expect(await ask(operation, 200, { key, body: { ...chat, stream: true, messages: breaking } })).toMatchObject({ error: {} });
});

test("refusals of a chat completion match the document", async () => {
  const operation = "post /gpt/v1/chat/completions";
  const poor = await on.fleet.operator().customer({ credit: "0.000001" });
  const busy = await on.fleet.operator().customer({ credit: "1", requestsPerMinute: 1 });
  const failing = (status: number) => ({ ...chat, messages: [{ role: "user", content: `sandbox: status=${status}` }] });
  const poorKey = poor.keys[0]?.key ?? "";
  const busyKey = busy.keys[0]?.key ?? "";
  await ask(operation, 200, { key: busyKey, body: chat });
  const refusals: [number, Asked][] = [
    [400, { key, body: "no JSON" }],
    [400, { key, body: failing(422) }],
    [401, { key: "none", body: chat }],
    [402, { key: poorKey, body: chat }],
    [404, { key, body: { ...chat, model: "acme/none" } }],
    [413, { key, body: " ".repeat(8 * 1024 * 1024 + 1) }],
    [429, { key: busyKey, body: chat }],
    [429, { key, body: failing(429) }],
    [502, { key, body: failing(500) }],
    [503, { key, body: { ...chat, model: "openai/later" } }],
  ];
  for (const [status, asked] of refusals) await ask(operation, status, asked);
});

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

test("models and keys match the document", async () => {
  await ask("get /gpt/v1/models", 200, { key, query: "?all=true" });
  await ask("get /gpt/v1/models", 401, { key: "none" });
  await ask("get /gpt/v1/models/{id}", 200, { key, id: "sandbox/echo" });
  await ask("get /gpt/v1/models/{id}", 404, { key, id: "acme/none" });
  await ask("get /gpt/v1/key", 200, { key });
  await ask("post /gpt/v1/embeddings", 403, { key });
});

test("a completion matches the document, streamed or not, and where it is off", async () => {
  const { workspace, keys } = await on.fleet.operator().customer({ credit: "1" });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["completions"] });
  const [operation, body] = ["post /gpt/v1/completions", { model: "sandbox/echo", prompt: "Hello" }];
  const streamed = { ...body, stream: true, usage: { include: true } };
  for (const sent of [body, streamed]) await ask(operation, 200, { key: keys[0]?.key ?? "", body: sent });
  await ask(operation, 400, { key: keys[0]?.key ?? "", body: { ...body, echo: true } });
  await ask(operation, 403, { key, body });
});

test("health, readiness and metrics match the document", async () => {
  for (const path of ["/health", "/ready", "/metrics", "/openapi.json", "/api/console/service"]) await ask(`get ${path}`, 200);
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
  await ask("post /api/console/members/{id}/deactivate", 200, { id: email, body: { workspace } });
  await ask("post /api/console/members/{id}/reactivate", 200, { id: email, body: { workspace } });
  for (const verb of ["reset", "suspend", "unsuspend", "lock", "unlock", "delete"]) {
    await ask(`post /api/console/accounts/{id}/${verb}`, 200, { id: email, body: {} });
  }
});

test("sessions match the document", () => askSessions(api, { url: on.fleet.url(), email: "owner@example.test" }));

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
  await ask("get /api/console/log", 200, { query });
  await ask("get /api/console/log/{id}", 200, { id });
  await until(async () => (await on.fleet.operator().send(`/api/console/prompts/${id}`)).ok);
  await ask("get /api/console/prompts/{id}", 200, { id });
  await ask("post /api/console/prompts/delete", 200, { body: { id } });
  await ask("get /api/console/audit", 200, { query });
});

test("models, the ledger, its migration and secrets match the document, including progress streams", async () => {
  await ask("get /api/console/models", 200);
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
  await ask("post /api/console/migrate", 200, { body: { finish: true }, accept });
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
  await ask("put /api/console/connections/{id}/credentials", 200, { id, body: { credentials } });
  await ask("put /api/console/connections/{id}/credentials", 404, { id: "con-none", body: { credentials } });
  expect(await ask("post /api/console/connections/{id}/test", 200, { id, body: {} })).toMatchObject({ outcome: "unusable" });
  await ask("delete /api/console/connections/{id}", 200, { id, query: `?workspace=${workspace}` });
  await ask("delete /api/console/connections/{id}", 404, { id });
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
  await ask("put /api/console/provider-keys/{id}", 200, { id, body: { key: "sk-of-the-customer-2" } });
  await ask("post /api/console/provider-keys/{id}/test", 200, { id, body: { model: "openai/model" } });
  await ask("post /api/console/provider-keys/{id}/disable", 200, { id, body: {} });
  await ask("delete /api/console/provider-keys/{id}", 200, { id, query: `?workspace=${workspace}` });
  await ask("delete /api/console/provider-keys/{id}", 404, { id });
  await on.fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: [] });
});

test("imports of advisories match the document", async () => {
  const events = [{ introduced: "0" }, { fixed: "3.0.9" }];
  const affected = [{ package: { ecosystem: "RubyGems", name: "rack" }, ranges: [{ type: "ECOSYSTEM", events }] }];
  const ids = { id: "OSV-2026-1", aliases: ["CVE-2026-0001"] };
  const record = { ...ids, modified: "2026-01-01T00:00:00Z", summary: "As described", affected };
  const outcome = await ask("post /api/console/advisories", 200, { body: { records: [record, {}] } });
  expect(outcome).toMatchObject({ imported: 1, failures: [{ index: 1 }] });
  await ask("post /api/console/advisories", 400, { body: { records: "none" } });
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
  const id = String(project_id);
  await ask("patch /api/console/projects/{id}", 200, { id, body: { workspace, product: "described" } });
  await ask("patch /api/console/projects/{id}", 404, { id: "prj_none", body: { workspace, product: null } });
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

test("the connector catalog, which needs no key, matches the document", async () => {
  const asked = { key: "none" };
  const { version } = await ask("get /api/connectors", 200, { ...asked, query: "?limit=200" });
  await ask("get /api/connectors", 400, { ...asked, query: "?limit=0" });
  await ask("get /api/connectors/{slug}", 200, { ...asked, id: "okta" });
  await ask("get /api/connectors/{slug}", 404, { ...asked, id: "no-such-vendor" });
  for (const id of ["latest.ndjson", "latest.json", "latest.csv", `${String(version)}.csv`]) {
    await ask("get /api/connector-exports/{file}", 200, { ...asked, id });
  }
  await ask("get /api/connector-exports/{file}", 404, { ...asked, id: "latest.xml" });
  await ask("get /api/connector-exports/{file}", 206, { ...asked, id: "latest.csv", headers: { range: "bytes=0-9" } });
  await ask("get /api/connector-exports/{file}", 416, { ...asked, id: "latest.csv", headers: { range: "bytes=99999999-" } });
  await ask("get /api/connector-changes", 200, { ...asked, query: "?since=0" });
  await ask("get /api/connector-changes", 400, { ...asked, query: "?since=1" });
  await ask("get /api/connector-schema.json", 200, asked);
  await ask("get /connectors", 200, { ...asked, query: "?q=okta" });
  await ask("get /connectors", 400, { ...asked, query: "?page=0" });
  await ask("get /connectors", 404, { ...asked, query: "?page=99" });
  await ask("get /connectors/{slug}", 404, { ...asked, id: "no-such-vendor" });
  const pages = api
    .paths()
    .map(([path]) => path)
    .filter((path) => path.startsWith("/connectors"));
  for (const path of pages) {
    await ask(`get ${path}`, 200, { ...asked, id: "okta" });
    await ask(`head ${path}`, 200, { ...asked, id: "okta" });
  }
  await ask("head /api/connectors", 200, asked);
  await ask("head /api/connectors/{slug}", 200, { ...asked, id: "okta" });
  await ask("head /api/connector-exports/{file}", 200, { ...asked, id: "latest.ndjson" });
  await ask("head /api/connector-changes", 200, { ...asked, query: "?since=0" });
  await ask("head /api/connector-schema.json", 200, asked);
});

test("the service's own pages match the document", async () => {
  const asked = { key: "none", headers: { accept: "text/html" }, id: "inference" };
  for (const path of ["/", "/reference", "/reference/{part}", "/favicon.ico"]) {
    for (const method of ["get", "head"]) await ask(`${method} ${path}`, 200, asked);
  }
  await ask("get /", 404, { key: "none" });
  await ask("get /reference/{part}", 404, { ...asked, id: "none" });
});

test("the document has no operation that was not called here", () => {
  const early = ["post /gpt/v1/embeddings"];
  expect(api.operations().filter((operation) => !api.answered.has(operation))).toEqual(early);
});
