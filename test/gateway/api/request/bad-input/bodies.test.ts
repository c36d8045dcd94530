/** Bodies that are not requests: the gateway says what is wrong, and they leave no trace. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectRefused, expectSound, post, settledAlone, stage, type Body, type Stage } from "./stage.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

const message = '{"role":"user","content":"Hello"}';
const chat = (fields: string): string => `{"model":"stub/model","messages":[${message}]${fields}}`;
const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, "latin1"));

describe("a body that is not JSON", () => {
  const bodies: [string, Body][] = [
    ["nothing", ""],
    ["half of it", chat("").slice(0, -1)],
    ["a comma too many", chat(",")],
    ["two objects", `${chat("")}${chat("")}`],
    ["a form", "model=stub%2Fmodel&messages=Hello"],
    ["a NUL byte after it", `${chat("")}\0`],
  ];

  test.each(bodies)("a body is refused: %s", async (_, body) => {
    await expectRefused(on, (key) => post(on, key, body), {
      code: "invalid_request",
      message: "not valid JSON",
    });
  });
});

test.each(["[]", `[${chat("")}]`, '"hello"', "7", "true", "null"])(
  "a body that is not an object is refused: %s",
  async (body) => {
    await expectRefused(on, (key) => post(on, key, body), { code: "invalid_request", message: "must be a JSON object" });
  },
);

describe("a body that is not UTF-8", () => {
  test.each([
    ["an invalid first byte", bytes(chat(',"user":"\xff"'))],
    ["half a character", bytes(chat(',"user":"\xc3"'))],
    ["half of a surrogate pair", bytes(chat(',"user":"\xed\xa0\xbd"'))],
    ["UTF-16", new Uint8Array(Buffer.from(chat(""), "utf16le"))],
  ])("a body is refused: %s", async (_, body) => {
    // UTF-16 of plain letters is UTF-8 with NUL bytes in it, which is not JSON.
    const refused = await expectRefused(on, (key) => post(on, key, body), { code: "invalid_request", message: "not valid" });
    expect(refused.status).toBe(400);
  });
});

test.each(["\\ud83d", "\\ude00", "\\ud83d\\ud83d", "\\uD83Dx"])(
  "a body with half of a surrogate pair is refused: %s",
  async (text) => {
    await expectRefused(on, (key) => post(on, key, chat(`,"user":"${text}"`)), {
      code: "invalid_request",
      message: "half of a surrogate pair",
    });
  },
);

describe("the field __proto__", () => {
  test.each([
    ["__proto__", chat(',"__proto__":{"max_tokens":1}')],
    ["__proto__", chat(',"\\u005f_proto__":1')],
    ["constructor", chat(',"constructor":{"prototype":{"polluted":1}}')],
    ["messages[0].__proto__", '{"model":"stub/model","messages":[{"role":"user","content":"x","__proto__":{"role":"system"}}]}'],
    ["stream_options.__proto__", chat(',"stream":true,"stream_options":{"__proto__":{"include_usage":true}}')],
  ])("the gateway refuses %s as an unknown field", async (param, body) => {
    await expectRefused(on, (key) => post(on, key, body), { code: "unsupported_parameter", param });
  });

  test("__proto__ in the client's JSON Schema is sent on unchanged", async () => {
    const { key } = await on.customer();
    const schema = '{"type":"object","__proto__":{"a":1}}';
    await post(on, key, chat(`,"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`));
    expect(on.stub.calls.at(-1)?.rawBody).toContain(schema);
  });
});

test("of two equal keys the last one counts everywhere: the checked value is the priced and sent value", async () => {
  const customer = await on.customer();
  const body = `{"model":"acme/none","max_tokens":1,"messages":[],"model":"stub/model","max_tokens":900,"messages":[${message}]}`;
  const response = await post(on, customer.key, body);
  expect(response.status).toBe(200);
  expect(on.stub.calls.at(-1)?.rawBody).toBe(
    '{"model":"stub-model","messages":[{"role":"user","content":"Hello"}],"max_tokens":900}',
  );
  const { reserved_usd } = await settledAlone(on, customer, 10_000n + 4n * 2_000n);
  expect(Number(reserved_usd)).toBeGreaterThanOrEqual(900 * 0.000_002);
});

test("the gateway ignores a byte order mark and the content type", async () => {
  const customer = await on.customer();
  const response = await post(on, customer.key, `\uFEFF${chat("")}`, { "content-type": "text/plain" });
  expect(response.status).toBe(200);
  await settledAlone(on, customer, 10_000n + 4n * 2_000n);
});

test("NUL and other control characters in a text come back unchanged", async () => {
  const customer = await on.customer();
  const text = "\0\u0001\u001f\u007f\u2028\u{10ffff}";
  const body = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: text }] });
  expect(await (await post(on, customer.key, body)).json()).toMatchObject({ choices: [{ message: { content: text } }] });
  await settledAlone(on, customer);
});
