/** The inference API, the catalog, pages and probes: answers match the service's OpenAPI document, for every operation. */
import { beforeAll, expect, test } from "bun:test";
import type { DocumentedApi, Asked } from "../../support/documented-api.ts";
import { until } from "../../support/until.ts";
import { describedService, expectAllCalled } from "./described-service.ts";
import type { Stage } from "../stage.ts";

const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };

let on: Stage;
let key: string;
let api: DocumentedApi;
const ask: DocumentedApi["ask"] = (...asked) => api.ask(...asked);

beforeAll(async () => {
  ({ on, key, api } = await describedService());
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

test("models and keys match the document", async () => {
  await ask("get /gpt/v1/models", 200, { key, query: "?all=true" });
  await ask("get /gpt/v1/models", 401, { key: "none" });
  await ask("get /gpt/v1/models/{id}", 200, { key, id: "sandbox/echo" });
  await ask("get /gpt/v1/models/{id}", 404, { key, id: "acme/none" });
  await ask("get /gpt/v1/key", 200, { key });
  await ask("get /gpt/v1/usage", 200, { key, query: "?by=day,key,member,model,provider,endpoint&tz=Asia/Kathmandu" });
  await ask("get /gpt/v1/usage", 400, { key, query: "?key=another" });
  const { id } = await ask("post /gpt/v1/chat/completions", 200, { key, body: chat });
  const headers = { authorization: `Bearer ${key}` };
  await until(async () => (await fetch(`${on.fleet.url()}/gpt/v1/generation?id=${String(id)}`, { headers })).ok);
  await ask("get /gpt/v1/generation", 200, { key, query: `?id=${String(id)}` });
  await ask("get /gpt/v1/generation", 400, { key, query: "?key=another" });
  await ask("get /gpt/v1/generation", 404, { key, query: "?id=gen-none" });
  await ask("get /gpt/v1/generation", 401, { key: "none", query: "?id=gen-none" });
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

test("a response matches the document, whole, event by event, and refused", async () => {
  const [operation, body] = ["post /gpt/v1/responses", { model: "sandbox/echo", input: "Hello" }];
  const hints = { text: { verbosity: "low" }, reasoning: { effort: "low" }, instructions: "Be brief", usage: { include: true } };
  expect(await ask(operation, 200, { key, body: { ...body, ...hints } })).toMatchObject({ status: "completed" });
  const streamed = await ask(operation, 200, { key, body: { ...body, stream: true } });
  expect(streamed).toMatchObject({ type: "response.completed" });
  const tools = [{ type: "function", name: "look_up" }];
  await ask(operation, 200, { key, body: { ...body, tools, tool_choice: "required", stream: true } });
  const breaking = { ...body, input: "sandbox: tokens=9 break_after=3", stream: true };
  expect(await ask(operation, 200, { key, body: breaking })).toMatchObject({ type: "response.failed" });
  await ask(operation, 400, { key, body: { ...body, store: true } });
  await ask("post /gpt/v1/responses/input_tokens", 200, { key, body });
  await ask(operation, 404, { key, body: { ...body, model: "acme/none" } });
  await ask(operation, 502, { key, body: { ...body, input: "sandbox: status=500" } });
});

test("Messages match the document, streamed or not, with their refusals and counts", async () => {
  const body = { ...chat, max_tokens: 50, usage: { include: true } };
  const saying = (content: string) => ({ ...body, messages: [{ role: "user", content }] });
  const tools = [{ name: "look_up", input_schema: { type: "object" } }];
  for (const operation of ["post /gpt/v1/messages", "post /gpt/v1/v1/messages"]) {
    await ask(operation, 200, { key, body: { ...body, tools, tool_choice: { type: "any" }, thinking: { type: "adaptive" } } });
    expect(await ask(operation, 200, { key, body: { ...body, stream: true } })).toEqual({ type: "message_stop" });
    const breaking = { ...saying("sandbox: tokens=9 break_after=3"), stream: true };
    expect(await ask(operation, 200, { key, body: breaking })).toMatchObject({ type: "error" });
    const refusals: [number, Asked][] = [
      [400, { key, body: "no JSON" }],
      [400, { key, body: { ...body, thread: { type: "create" } } }],
      [401, { key: "none", body }],
      [404, { key, body: { ...body, model: "acme/none" } }],
      [429, { key, body: saying("sandbox: status=429") }],
      [502, { key, body: saying("sandbox: status=500") }],
      [503, { key, body: { ...body, model: "openai/later" } }],
    ];
    for (const [status, asked] of refusals) await ask(operation, status, asked);
    const count = `${operation}/count_tokens`;
    await ask(count, 200, { key, body: chat });
    for (const [status, asked] of refusals.filter(([code]) => code < 429 || code === 503)) await ask(count, status, asked);
  }
});

test("health, readiness and metrics match the document", async () => {
  for (const path of ["/health", "/ready", "/metrics", "/openapi.json"]) await ask(`get ${path}`, 200);
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
  const front = await (await fetch(`${on.fleet.url()}/`, { headers: { accept: "text/html" } })).text();
  const [, digest = "", name = ""] = /"\/assets\/([^/"]+)\/([^/"]+)"/.exec(front) ?? [];
  for (const method of ["get", "head"]) await ask(`${method} /assets/{digest}/{name}`, 200, { key: "none", id: [digest, name] });
  await ask("get /assets/{digest}/{name}", 404, { key: "none", id: [digest, "none"] });
  await ask("get /", 404, { key: "none" });
  await ask("get /reference/{part}", 404, { ...asked, id: "none" });
});

test("no operation was left out", () => {
  expectAllCalled(api, (path) => !/^\/(api\/(console|tools)|mcp)\b/.test(path), ["post /gpt/v1/embeddings"]);
});
