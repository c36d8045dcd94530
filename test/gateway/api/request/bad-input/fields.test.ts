/** JSON requests with wrong fields: refused by the field's name before anything is held or sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectRefused, expectSound, post, settledAlone, stage, type Refusal, type Stage } from "./stage.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

const hello = { role: "user", content: "Hello" };
const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };

function send(fields: Record<string, unknown>): (key: string) => Promise<Response> {
  return (key) => post(on, key, JSON.stringify({ model: "stub/model", messages: [hello], ...fields }));
}

const invalid = (param: string, message = ""): Refusal => ({ code: "invalid_request", param, message });
const unsupported = (param: string, message = ""): Refusal => ({ code: "unsupported_parameter", param, message });

/** One of each kind; test/gateway/api/request/chat-fields.test.ts and chat-messages.test.ts have all values of all fields. */
const refused: [string, Record<string, unknown>, Refusal][] = [
  ["no model", { model: undefined }, invalid("model", "required")],
  ["a model that is null", { model: null }, invalid("model")],
  ["a custom model", { model: "custom:mine" }, unsupported("model", "custom")],
  ["a model of 257 characters", { model: "m".repeat(257) }, invalid("model")],
  ["no messages", { messages: undefined }, invalid("messages", "required")],
  ["an empty list of messages", { messages: [] }, invalid("messages")],
  ["2,001 messages", { messages: Array.from({ length: 2_001 }, () => hello) }, invalid("messages", "more than 2000")],
  ["messages that are an object", { messages: { "0": hello } }, invalid("messages")],
  ["a message that is null", { messages: [hello, null] }, invalid("messages[1]")],
  ["an unknown role", { messages: [{ role: "wizard", content: "x" }] }, invalid("messages[0].role", '"user"')],
  ["a role of another case", { messages: [{ role: "User", content: "x" }] }, invalid("messages[0].role")],
  ["an image", { messages: [{ role: "user", content: [image] }] }, unsupported("messages[0].content", "only text content")],
  ["content that is null", { messages: [{ role: "user", content: null }] }, invalid("messages[0].content")],
  ["a temperature above 2", { temperature: 2.5 }, invalid("temperature")],
  ["a number as a string", { temperature: "1" }, invalid("temperature")],
  ["a negative max_tokens", { max_tokens: -1 }, invalid("max_tokens")],
  ["a fractional max_tokens", { max_tokens: 1.5 }, invalid("max_tokens")],
  ["a max_tokens as a string", { max_tokens: "10" }, invalid("max_tokens")],
  ["a max_tokens of zero", { max_completion_tokens: 0 }, invalid("max_completion_tokens")],
  ["a max_tokens beyond the model's", { max_tokens: 1_001 }, invalid("max_tokens", "1000")],
  ["both bounds, one hidden behind the other", { max_tokens: 1, max_completion_tokens: 900 }, invalid("max_tokens")],
  ["n: 2", { n: 2 }, unsupported("n", "only n=1 is supported")],
  ["a switch as a number", { stream: 1 }, invalid("stream")],
  ["an unknown field", { top_k: 40 }, unsupported("top_k")],
  ["a name of 10,000 characters", { ["x".repeat(10_000)]: 1 }, unsupported(`${"x".repeat(100)}…`)],
  ["a tool choice without tools", { tool_choice: "required" }, invalid("tool_choice")],
  ["a null in place of a required field", { tools: [{ type: "function", function: null }] }, invalid("tools[0].function")],
  ["other models to fall back to", { models: ["a/b"], provider: { order: ["x"] } }, unsupported("models")],
  ["an order of providers", { provider: { sort: "price", order: ["x"] } }, unsupported("provider.order")],
  ["a provider as a text", { provider: "openai" }, unsupported("provider")],
];

test.each(refused)("the gateway refuses %s", async (_, fields, refusal) => {
  await expectRefused(on, send(fields), refusal);
});

test.each(["temperature", "seed", "max_tokens", "top_p"])("the gateway refuses a %s larger than any number", async (param) => {
  const body = `{"model":"stub/model","messages":[{"role":"user","content":"Hello"}],"${param}":1e400}`;
  await expectRefused(on, (key) => post(on, key, body), invalid(param));
});

describe("a model id that is not in the catalog", () => {
  const ids = [
    "acme/none",
    "stub/model ",
    " stub/model",
    "Stub/Model",
    "stub/model/",
    "stub%2Fmodel",
    "stub/../stub/model",
    "__proto__",
    "toString",
    "a\0b",
    "a\r\nX-Evil: 1",
    "';DROP TABLE keys;--",
    "<script>alert(1)</script>",
    "é/😀",
    "{model}",
    "m".repeat(256),
  ];

  test.each(ids.map((id) => [JSON.stringify(id).slice(0, 60), id]))(
    "the id %s is model_not_found, at the end of the message",
    async (_, id) => {
      const response = await expectRefused(on, send({ model: id }), { code: "model_not_found", param: "model", message: id });
      expect(response.headers.has("x-evil")).toBe(false);
    },
  );

  const paths = ["acme/none", "%", "%ff", "%00", "a%0d%0aX-Evil:1", "..%2f..%2fkey", "a b", "é", "a/b/models/c"];

  test.each(paths)("GET /models/%s is model_not_found", async (path) => {
    const get = (key: string) =>
      fetch(`${on.fleet.url()}/gpt/v1/models/${path}`, { headers: { authorization: `Bearer ${key}` } });
    const response = await expectRefused(on, get, { code: "model_not_found", param: "model" });
    expect(response.headers.has("x-evil")).toBe(false);
  });
});

test("the provider gets the same request if a field is null, empty or the default as if it is absent", async () => {
  const customer = await on.customer();
  const nothings = {
    ...Object.fromEntries(
      ["temperature", "top_p", "max_tokens", "stop", "n", "stream", "seed", "tool_choice", "functions"].map((name) => [
        name,
        null,
      ]),
    ),
    user: "",
    tools: [],
    logit_bias: {},
    frequency_penalty: 0,
    response_format: { type: "text" },
  };
  expect((await send(nothings)(customer.key)).status).toBe(200);
  expect(on.stub.calls.at(-1)?.body).toEqual({ model: "stub-model", messages: [hello], max_tokens: 1_000 });
  await settledAlone(on, customer, 18_000n);
});

test("accepted fields reach the provider unchanged, with the reserved bound", async () => {
  const customer = await on.customer();
  const tool = {
    type: "function",
    function: { name: "look_up", description: "Looks up", parameters: { type: "object" }, strict: true },
  };
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
  const messages = [
    { role: "developer", content: "Be brief" },
    { role: "system", content: [{ type: "text", text: "Be kind" }], name: "house" },
    { role: "user", content: "Hello", name: "ann" },
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "42" },
    { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
    { role: "function", name: "old", content: "7" },
  ];
  const fields = {
    temperature: 0.7,
    top_p: 0.9,
    verbosity: "low",
    reasoning_effort: "high",
    frequency_penalty: 1,
    presence_penalty: -1,
    response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: true } },
    stop: ["END"],
    logit_bias: { "50256": -100 },
    logprobs: true,
    top_logprobs: 3,
    prediction: { type: "content", content: "x" },
    seed: 7,
    tools: [tool],
    tool_choice: "required",
    parallel_tool_calls: false,
  };
  const labels = {
    user: "ann",
    metadata: { a: "b" },
    safety_identifier: "s",
    prompt_cache_key: "p",
    store: false,
    max_tokens: 50,
  };
  expect((await send({ messages, ...fields, ...labels, n: 1, service_tier: "auto" })(customer.key)).status).toBe(200);
  expect(on.stub.calls.at(-1)?.body).toEqual({ model: "stub-model", messages, ...fields, max_tokens: 50 });
  await settledAlone(on, customer, 18_000n);
});
