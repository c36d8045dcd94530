/** POST /responses over HTTP, on the sandbox and on a provider of each wire format: routes, lines, refusals, charges, and who may serve. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { codexRequests, frameworkRequests, recorded } from "../gateway/api/responses/recorded/recorded.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { packedThought } from "../../src/gateway/thoughts.ts";
import type { Customer } from "../support/operator.ts";
import { refusal as refusedByClaude } from "../support/providers/anthropic-answers.ts";
import { googleError } from "../support/providers/google-answers.ts";
import { event, refusal as refusedByResponses, responseEvents } from "../support/providers/responses-answers.ts";
import { chat, error, rawStream, type StubAnswer } from "../support/providers/stub-answers.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { formatsStage, type FormatProvider, type FormatsStage } from "./formats-stage.ts";

type Json = Record<string, unknown>;

const credit = "10";
let stage: FormatsStage;
let fleet: Fleet;
let customer: Customer;

beforeAll(async () => {
  stage = await formatsStage();
  ({ fleet } = stage);
}, 60_000);
beforeEach(async () => {
  await formatsStage();
  customer = await fleet.operator().customer({ credit });
});

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

function send(body: Json | null, { method = "POST", path = "", headers = {}, signal }: Sent = {}): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/responses${path}`, {
    method,
    headers: { authorization: `Bearer ${customer.keys[0]?.key}`, ...headers },
    ...(body !== null && { body: JSON.stringify({ model: "sandbox/echo", input: "Hello", ...body }) }),
    ...(signal && { signal }),
  });
}

async function answerOf(body: Json, sent: Sent = {}): Promise<Json> {
  const response = await send(body, sent);
  expect([response.status, body["model"]]).toEqual([200, body["model"]]);
  return (await response.json()) as Json;
}

test("an answer is one object with the charged usage, which keeps nothing", async () => {
  const response = await send({ usage: { include: true } });
  const answer = (await response.json()) as Json;
  expect(answer).toMatchObject({
    id: `resp_${response.headers.get("x-generation-id")?.slice("gen-".length)}`,
    object: "response",
    status: "completed",
    model: "sandbox/echo",
    store: false,
    output: [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }],
    usage: { input_tokens: 2, output_tokens: 2, total_tokens: 4, cost: expect.any(Number) },
  });
  const rows = await expectExactLedger(fleet.operator(), customer, { credit, generations: 1 });
  expect(rows[0]).toMatchObject({ endpoint: "responses", model: "sandbox/echo", prompt_tokens: 2, completion_tokens: 2 });
});

test("a stream is named events with their data, from `created` to `completed`, without another last line", async () => {
  const response = await send({ stream: true });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const lines = (await response.text()).split("\n\n");
  expect(lines.pop()).toBe("");
  const events = lines.map((line) => /^event: (\S+)\ndata: (\{.*\})$/.exec(line)?.[1]);
  expect(events).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

describe("what agents and frameworks send is answered", () => {
  test.each([...codexRequests, ...frameworkRequests])("%s", async (name) => {
    const response = await send({ ...recorded(name), model: "responses/model", stream: false });
    expect([response.status, name]).toEqual([200, name]);
    const sent = stage.stub("responses").calls.at(-1)?.body;
    if (name === "codex-gpt-5.5") {
      expect(response.headers.get("x-ignored-fields")).toBe("tools[9]");
      expect(JSON.stringify(sent?.["tools"])).not.toContain("web_search");
      expect(sent).toMatchObject({ reasoning: { effort: "medium" }, text: { verbosity: "low" }, store: false });
    }
    expect(((await response.json()) as Json)["status"]).toBe("completed");
  });
});

describe("a prompt that is too long", () => {
  const words = "maximum context length is 8192 tokens, however you requested 9000 tokens";
  const refusals: Record<FormatProvider, StubAnswer> = {
    claude: refusedByClaude(400, "invalid_request_error", "prompt is too long: 9000 tokens > 8192 maximum"),
    google: googleError(
      400,
      "INVALID_ARGUMENT",
      "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
    ),
    responses: refusedByResponses(400, { code: "context_length_exceeded", message: words }),
    other: error(400, "context_length_exceeded", words),
  };

  test.each(["claude", "google", "responses", "other"] as const)("has the code that agents act on: %s", async (provider) => {
    stage.stub(provider).answerOnce(refusals[provider]);
    const response = await send({ model: `${provider}/model` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded", type: "invalid_request_error" } });
    const rows = await expectExactLedger(fleet.operator(), customer, { credit, generations: 1, costNano: 0n });
    expect(rows[0]).toMatchObject({ status: 400, code: "upstream_rejected" });
  });
});

test("a thought of another model is left out, and is no reason to refuse", async () => {
  const encrypted_content = packedThought({ signer: "another", text: "Hm", seal: "secret-seal" });
  const input = [
    { role: "user", content: "Hi" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content },
    { role: "assistant", content: [{ type: "output_text", text: "So" }] },
    { role: "user", content: "Again" },
  ];
  for (const provider of ["claude", "google", "responses", "other"] as const) {
    expect(await answerOf({ model: `${provider}/model`, input })).toMatchObject({ status: "completed" });
    expect(stage.stub(provider).calls.at(-1)?.rawBody).not.toContain("secret-seal");
  }
});

test("a provider's own numbers of events, however large, are not those of the client", async () => {
  const numbers = [2 ** 31, -1, 2 ** 53, 1e300, 0];
  const events = responseEvents("It rains.").map((one, index) => ({ ...one, sequence_number: numbers[index % numbers.length] }));
  stage.stub("responses").answerOnce(rawStream(...events.map(event)));
  const text = await (await send({ model: "responses/model", stream: true })).text();
  const sent = [...text.matchAll(/"sequence_number":([^,]+),/g)].map(([, number]) => Number(number));
  expect(sent).toEqual(sent.map((_, index) => index));
  expect(text).toContain('"text":"It rains."');
  expect(text).toContain("event: response.completed\n");
});

describe("nothing is kept", () => {
  test.each([
    ["GET", "/resp_1"],
    ["DELETE", "/resp_1"],
    ["POST", "/resp_1/cancel"],
    ["GET", "/resp_1/input_items"],
    ["POST", "/compact"],
  ])("%s %s is 404 in the API's form, for callers with a key", async (method, path) => {
    const response = await send(method === "POST" ? {} : null, { method, path });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: "invalid_request_error", code: "not_found", param: null },
    });
    expect((await send(null, { method, path, headers: { authorization: "Bearer none" } })).status).toBe(401);
  });
});

test("a WebSocket is sent back to HTTP, and other methods are refused", async () => {
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const socket = await send(null, { method: "GET", headers: upgrade });
  expect(socket.status).toBe(426);
  expect(await socket.json()).toMatchObject({ error: { code: "upgrade_required" } });
  for (const method of ["GET", "DELETE"]) {
    const response = await send(null, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  }
});

test("a refusal has chat's status, code and headers, and costs nothing", async () => {
  const poor = await fleet.operator().customer({ credit: "0.000001" });
  const headers = { authorization: `Bearer ${poor.keys[0]?.key}` };
  const broke = await send({}, { headers });
  expect([broke.status, await broke.json()]).toEqual([402, { error: expect.objectContaining({ code: "insufficient_credit" }) }]);
  const limited = await send({ input: "sandbox: status=429" });
  expect([limited.status, limited.headers.has("retry-after")]).toEqual([429, true]);
  const failed = await send({ input: "sandbox: status=529" });
  expect([failed.status, failed.headers.get("x-should-retry")]).toEqual([502, "true"]);
  await expectExactLedger(fleet.operator(), customer, { credit, generations: 2, costNano: 0n });
});

test("a client that leaves is charged for what was written, as in a chat", async () => {
  const leaving = new AbortController();
  const response = await send({ input: "sandbox: tokens=4000 gap_ms=5", stream: true }, { signal: leaving.signal });
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes("output_text.delta")) text += new TextDecoder().decode((await reader?.read())?.value);
  leaving.abort();
  const rows = await expectExactLedger(fleet.operator(), customer, { credit, generations: 1 });
  expect(rows[0]).toMatchObject({ status: 499, code: "client_gone" });
  expect(Number(rows[0]?.completion_tokens)).toBeGreaterThan(0);
});

test("with routing another model serves, the answer has the requested name, and the header says which it was", async () => {
  await fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { early_access: ["routing"] });
  stage.stub("other").answer(error(500));
  const response = await send({ model: "other/model", models: ["claude/model"], text: { verbosity: "low" } });
  expect([response.status, response.headers.get("x-route")]).toEqual([200, "claude/claude/model"]);
  expect(response.headers.get("x-ignored-fields")).toBe("text.verbosity");
  expect(await response.json()).toMatchObject({ model: "other/model" });
});

test("a workspace with zero data retention is served by no provider that retains", async () => {
  await fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { zero_data_retention: true });
  stage.stub("other").answer(chat("Hello"));
  const before = stage.stub("other").calls.length;
  const response = await send({ model: "other/model" });
  expect(response.status).toBe(503);
  expect(stage.stub("other").calls).toHaveLength(before);
});

test("the workspace's own key pays for the call, and the answer costs nothing", async () => {
  const own = { workspace: customer.workspace, provider: "other", key: "sk-own-key-of-the-customer" };
  await fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { early_access: ["own_keys"] });
  await fleet.operator().call("POST", "/provider-keys", own);
  expect((await send({ model: "other/model" })).status).toBe(200);
  expect(stage.stub("other").calls.at(-1)?.headers["authorization"]).toBe("Bearer sk-own-key-of-the-customer");
  const rows = await expectExactLedger(fleet.operator(), customer, { credit, generations: 1, costNano: 0n });
  expect(rows[0]).toMatchObject({ own_key: true, endpoint: "responses" });
});
