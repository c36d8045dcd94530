/** JSON requests with wrong fields: refused by the field's name before anything is held or sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectRefused, expectSound, post, stage, type Refusal, type Stage } from "./stage.ts";

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

/** One of each kind; test/gateway/api/request/chat-fields.test.ts and chat-parts.test.ts have all values of all fields. */
const refused: [string, Record<string, unknown>, Refusal][] = [
  ["no model", { model: undefined }, invalid("model", "required")],
  ["a custom model", { model: "custom:mine" }, unsupported("model", "custom")],
  ["no messages", { messages: undefined }, invalid("messages", "required")],
  ["an unknown role", { messages: [{ role: "wizard", content: "x" }] }, invalid("messages[0].role", '"user"')],
  ["an image", { messages: [{ role: "user", content: [image] }] }, unsupported("messages[0].content", "only text content")],
  ["a temperature above 2", { temperature: 2.5 }, invalid("temperature")],
  ["a max_tokens beyond the model's", { max_tokens: 1_001 }, invalid("max_tokens", "1000")],
  ["both bounds, one hidden behind the other", { max_tokens: 1, max_completion_tokens: 900 }, invalid("max_tokens")],
  ["n: 2", { n: 2 }, unsupported("n", "only n=1 is supported")],
  ["an unknown field", { top_k: 40 }, unsupported("top_k")],
  ["a name of 10,000 characters", { ["x".repeat(10_000)]: 1 }, unsupported(`${"x".repeat(100)}…`)],
  ["other models to fall back to", { models: ["a/b"], provider: { order: ["x"] } }, unsupported("models")],
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
