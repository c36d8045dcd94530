/** POST /messages over HTTP, on the sandbox: keys, headers, charges, failures, and what a client that retries finds. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../../support/servers/fleet.ts";
import type { Customer } from "../../support/operator.ts";
import { expectExactBalance, expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import { until } from "../../support/until.ts";
import { agentRequest, namedEvents, send } from "./session.ts";
import { stage } from "../stage.ts";

type Json = Record<string, unknown>;

let fleet: Fleet;

beforeAll(async () => {
  ({ fleet } = await stage("embedded"));
}, 90_000);

const customer = (credit = "1"): Promise<Customer> => fleet.operator().customer({ credit });
const keyOf = ({ keys }: Customer): string => keys[0]?.key ?? "";
const asking = (text: string, fields: Json = {}): Json => ({
  model: "sandbox/echo",
  max_tokens: 100,
  messages: [{ role: "user", content: text }],
  ...fields,
});

async function problem(response: Response): Promise<string> {
  const { type, error, request_id: request } = (await response.json()) as { type: string; error: Json; request_id: unknown };
  expect(type).toBe("error");
  expect(request).toBe(response.headers.get("x-request-id") as never);
  return `${response.status} ${String(error["type"])} ${String(error["code"])} ${String(error["param"])}`;
}

describe("the key", () => {
  test("is taken from either header, and below either path", async () => {
    const made = await customer();
    const key = keyOf(made);
    const body = asking("Hi");
    for (const response of [
      await send(fleet, key, body),
      await send(fleet, key, body, { "x-api-key": key }),
      await send(fleet, key, body, { "x-api-key": key, authorization: `Bearer ${key}` }),
      await fetch(`${fleet.url()}/gpt/v1/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": key },
        body: JSON.stringify(body),
      }),
    ]) {
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ type: "message", content: [{ type: "text", text: "Hi" }] });
    }
    await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 4 });
  });

  test("twice and different is refused for good, before the body is read", async () => {
    const [one, other] = [await customer(), await customer()];
    const both = { "x-api-key": keyOf(one), authorization: `Bearer ${keyOf(other)}` };
    const response = await send(fleet, "", { broken: true }, both);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await problem(response)).toBe("401 authentication_error invalid_api_key null");
    expect(await problem(await send(fleet, "", {}, { "x-api-key": "sk-ant-something" }))).toStartWith("401 ");
    for (const made of [one, other]) await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 0 });
  });
});

describe("an answer", () => {
  test("is charged as that of a chat, and its row says which endpoint it was", async () => {
    const made = await customer();
    const response = await send(fleet, keyOf(made), asking("sandbox: usage=100,7"));
    const id = response.headers.get("x-generation-id") ?? "";
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    expect(response.headers.get("x-ratelimit-remaining-requests")).not.toBeNull();
    expect(await response.json()).toMatchObject({
      id: id.replace("gen-", "msg_"),
      model: "sandbox/echo",
      stop_reason: "end_turn",
      usage: { input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 0 },
    });
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row).toMatchObject({
      generation_id: id,
      endpoint: "messages",
      streamed: false,
      prompt_tokens: 100,
      completion_tokens: 7,
    });
  });

  test("is streamed as named events in their order, with the counts that are charged", async () => {
    const made = await customer();
    const response = await send(fleet, keyOf(made), asking("sandbox: usage=100,7", { stream: true }));
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await response.text();
    expect(text).not.toContain("[DONE]");
    const events = namedEvents(text);
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(["message_start", "ping", "content_block_start"]);
    expect(types.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 100, output_tokens: 7 } });
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row).toMatchObject({ endpoint: "messages", streamed: true, prompt_tokens: 100, completion_tokens: 7 });
  });

  test("needs no version, and an agent's whole request is answered, with the hints that were left out", async () => {
    const key = keyOf(await customer("10"));
    const response = await fetch(`${fleet.url()}/gpt/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(agentRequest("sandbox/echo", [], { stream: false })),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-ignored-fields")?.split(", ")).toContain("context_management");
    expect(await response.json()).toMatchObject({ content: [{ type: "text" }], stop_reason: "end_turn" });
  });

  test("of a model without its provider's name has the name that was asked for, and its row the catalog's", async () => {
    const made = await customer();
    const response = await send(fleet, keyOf(made), asking("Hi", { model: "model" }));
    expect(await response.json()).toMatchObject({ type: "message", model: "model" });
    const [row] = await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row).toMatchObject({ model: "anthropic/model", endpoint: "messages" });
  });

  test("calls a forced tool with an input that its schema takes", async () => {
    const tools = [{ name: "look_up", input_schema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } }];
    const fields = { tools, tool_choice: { type: "any" } };
    const response = await send(fleet, keyOf(await customer()), asking("Go", fields));
    expect(await response.json()).toMatchObject({
      content: [{ type: "tool_use", name: "look_up", input: { q: expect.any(String) }, caller: { type: "direct" } }],
      stop_reason: "tool_use",
    });
  });
});

describe("a refusal", () => {
  test("names the field of the client, costs nothing and leaves no row", async () => {
    const made = await customer();
    const refused = await send(fleet, keyOf(made), asking("Hi", { max_tokens: undefined }));
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(refused.headers.has("x-generation-id")).toBe(false);
    expect(await problem(refused)).toBe("400 invalid_request_error invalid_request max_tokens");
    const unknown = await send(fleet, keyOf(made), asking("Hi", { model: "claude-nothing" }));
    expect(await problem(unknown)).toBe("404 not_found_error model_not_found model");
    await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 0 });
  });

  test("for want of credit says that a retry is of no use", async () => {
    const made = await customer("0.000001");
    const response = await send(fleet, keyOf(made), asking("Hi"));
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await problem(response)).toBe("402 billing_error insufficient_credit null");
  });

  test("of a wrong method or path is that of all endpoints, at once and without a key", async () => {
    const wrong = await fetch(`${fleet.url()}/gpt/v1/messages`);
    expect([wrong.status, await wrong.json()]).toEqual([405, { detail: "Method Not Allowed" }]);
    const greeting = await fetch(`${fleet.url()}/gpt/api/hello`, { method: "HEAD" });
    expect(greeting.status).toBe(404);
  });
});

describe("a failure of the provider", () => {
  test("before the answer is free", async () => {
    const made = await customer();
    const response = await send(fleet, keyOf(made), asking("sandbox: status=529", { stream: true }));
    expect(await problem(response)).toBe("502 api_error upstream_error null");
    await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1, costNano: 0n });
  });

  test("in a stream is an error event without an end, and the retry is another request with its own charge", async () => {
    const made = await customer();
    const text = "sandbox: tokens=50 break_after=2";
    const events = namedEvents(await (await send(fleet, keyOf(made), asking(text, { stream: true }))).text());
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "api_error", code: "upstream_error" } });
    expect(events.map(({ type }) => type)).not.toContain("message_stop");
    await (await send(fleet, keyOf(made), asking("Hi"))).text();
    const rows = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 2 });
    expect(rows.every(({ cost_usd }) => Number(cost_usd) > 0)).toBe(true);
  });
});

test("a client that leaves a stream pays for what was produced", async () => {
  const made = await customer();
  const aborted = new AbortController();
  const response = await fetch(`${fleet.url()}/gpt/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${keyOf(made)}` },
    body: JSON.stringify(asking("sandbox: tokens=100 gap_ms=50", { stream: true, max_tokens: 1_000 })),
    signal: aborted.signal,
  });
  const reader = response.body?.getReader();
  let read = "";
  while (!read.includes("content_block_delta")) read += new TextDecoder().decode((await reader?.read())?.value);
  aborted.abort();
  const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
  expect(row).toMatchObject({ endpoint: "messages", status: 499, code: "client_gone" });
  expect(Number(row?.cost_usd)).toBeGreaterThan(0);
});

test("the prompt and the answer are stored as those of a chat, without what stands apart", async () => {
  const made = await customer();
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { prompt_storage: true });
  const messages = [
    { role: "user", content: "a" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "w1.A.S" },
        { type: "text", text: "b" },
      ],
    },
    { role: "user", content: "c" },
  ];
  const response = await send(fleet, keyOf(made), asking("", { system: "s", messages, stream: true }));
  await response.text();
  const id = response.headers.get("x-generation-id");
  await until(async () => (await fleet.operator().send(`/api/console/prompts/${id}`)).ok);
  expect(await fleet.operator().call("GET", `/prompts/${id}`)).toMatchObject({
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ],
    answer: { content: "c" },
  });
});
