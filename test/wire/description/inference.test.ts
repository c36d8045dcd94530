/** The inference API: answers match the service's OpenAPI document, for every operation. */
import { beforeAll, expect, test } from "bun:test";
import type { DocumentedApi, Asked } from "../../support/documented-api.ts";
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

test("no operation was left out", () => {
  expectAllCalled(api, (path) => path.startsWith("/gpt/"), ["post /gpt/v1/embeddings"]);
});
