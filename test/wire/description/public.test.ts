/** The tools API, the catalog, pages and probes: answers match the service's OpenAPI document, for every operation. */
import { beforeAll, test } from "bun:test";
import type { DocumentedApi } from "../../support/documented-api.ts";
import type { Customer } from "../../support/operator.ts";
import { jsonOf } from "../../support/described.ts";
import { until } from "../../support/until.ts";
import { toolsInputs } from "../../support/security/tools-inputs.ts";
import { describedService, expectAllCalled } from "./described-service.ts";
import type { Stage } from "../stage.ts";

let on: Stage;
let api: DocumentedApi;
let customer: Customer;
const ask: DocumentedApi["ask"] = (...asked) => api.ask(...asked);

beforeAll(async () => {
  ({ on, api, customer } = await describedService());
}, 90_000);

test("health, readiness and metrics match the document", async () => {
  for (const path of ["/health", "/ready", "/metrics", "/openapi.json"]) await ask(`get ${path}`, 200);
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

test("no operation was left out", () => {
  expectAllCalled(api, (path) => !path.startsWith("/gpt/") && !path.startsWith("/api/console"));
});
