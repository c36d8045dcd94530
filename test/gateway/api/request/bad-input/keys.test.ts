/** Wrong keys of every form get the same answer, which does not say which reason applied. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operatorToken } from "../../../../support/servers/fleet.ts";
import { expectRefused, expectSound, stage, type Stage } from "./stage.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

const hex = "0123456789abcdef".repeat(4);
const unknown = `platform-api-${hex}`;

const headers: [string, (key: string) => Record<string, string>][] = [
  ["none", () => ({})],
  ["empty", () => ({ authorization: "" })],
  ["only the scheme", () => ({ authorization: "Bearer" })],
  ["the scheme and spaces", () => ({ authorization: "Bearer    " })],
  ["the key without a scheme", (key) => ({ authorization: key })],
  ["another scheme", (key) => ({ authorization: `Basic ${Buffer.from(`key:${key}`).toString("base64")}` })],
  ["a scheme that begins alike", (key) => ({ authorization: `BearerX ${key}` })],
  ["an unknown key", () => ({ authorization: `Bearer ${unknown}` })],
  ["another prefix", () => ({ authorization: `Bearer sk-${hex}` })],
  ["the prefix of another case", (key) => ({ authorization: `Bearer ${key.replace("platform", "Platform")}` })],
  [
    "upper-case letters",
    (key) => ({ authorization: `Bearer ${key.slice(0, -64)}${key.slice(-64).toUpperCase()}X`.slice(0, 84) }),
  ],
  ["one character too few", (key) => ({ authorization: `Bearer ${key.slice(0, -1)}` })],
  ["one character too many", (key) => ({ authorization: `Bearer ${key}0` })],
  ["a letter that is not hexadecimal", (key) => ({ authorization: `Bearer ${key.slice(0, -1)}g` })],
  ["two keys", (key) => ({ authorization: `Bearer ${key}, Bearer ${key}` })],
  ["two keys in one", (key) => ({ authorization: `Bearer ${key} ${key}` })],
  ["a no-break space behind it", (key) => ({ authorization: `Bearer ${key}\u00a0` })],
  ["a no-break space before the scheme", (key) => ({ authorization: `\u00a0Bearer ${key}` })],
  ["a no-break space between the two", (key) => ({ authorization: `Bearer\u00a0${key}` })],
  ["quotes around it", (key) => ({ authorization: `Bearer "${key}"` })],
  [
    "a hash of the key in its place",
    (key) => ({ authorization: `Bearer platform-api-${new Bun.SHA256().update(key).digest("hex")}` }),
  ],
  ["a sign-in token", () => ({ authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln" })],
  ["the header of another service", (key) => ({ "api-key": key, "x-goog-api-key": key })],
  ["the header of Messages, with another key", (key) => ({ "x-api-key": unknown, authorization: `Basic ${key}` })],
  ["a cookie", (key) => ({ cookie: `key=${key}` })],
  ["SQL", () => ({ authorization: "Bearer ' OR 1=1 --" })],
  ["10,000 characters", () => ({ authorization: `Bearer platform-api-${"0".repeat(10_000)}` })],
];

describe.each([
  ["POST", "/chat/completions"],
  ["GET", "/models"],
  ["GET", "/models/stub/model"],
  ["GET", "/key"],
])("%s %s", (method, path) => {
  test.each(headers)("the gateway refuses a wrong key: %s", async (_, headersOf) => {
    const body = JSON.stringify({ model: "stub/model", messages: [{ role: "user", content: "Hello" }] });
    const send = (key: string) =>
      fetch(`${on.fleet.url()}/gpt/v1${path}?api_key=${key}`, {
        method,
        headers: headersOf(key),
        ...(method === "POST" && { body }),
      });
    const response = await expectRefused(on, send, {
      code: "invalid_api_key",
      message: "The API key is invalid, revoked or expired. Keys start with platform-api- and are sent as a Bearer token",
    });
    expect(response.headers.has("x-ratelimit-limit-requests")).toBe(false);
  });
});

test.each(["/chat/completions", "/key"])("the header of Messages opens no other endpoint: %s", async (path) => {
  const isPost = path !== "/key";
  const send = (key: string) =>
    fetch(`${on.fleet.url()}/gpt/v1${path}`, {
      method: isPost ? "POST" : "GET",
      headers: { "x-api-key": key },
      ...(isPost && { body: "{}" }),
    });
  await expectRefused(on, send, { code: "invalid_api_key" });
});

test("the gateway refuses a tools key, the operator's token and a revoked key", async () => {
  const operator = on.fleet.operator();
  const { workspace, key, keys } = await on.customer();
  const tools = await operator.toolsKey({ workspace, owner: "owner@example.test" });
  await operator.call("POST", `/keys/${keys[0]?.id}/revoke`);
  for (const wrong of [tools, operatorToken, key]) {
    await expectRefused(on, () => fetch(`${on.fleet.url()}/gpt/v1/key`, { headers: { authorization: `Bearer ${wrong}` } }), {
      code: "invalid_api_key",
    });
  }
});

test("the gateway ignores spaces and tabs around the header's value, which HTTP removes", async () => {
  const authorization = ` \t Bearer ${on.refused.key}\t `;
  const response = await fetch(`${on.fleet.url()}/gpt/v1/key`, { headers: { authorization } });
  expect(response.status).toBe(200);
});

test.each(["bearer", "BEARER", "Bearer "])("the gateway accepts the scheme %p", async (scheme) => {
  const authorization = `${scheme} ${on.refused.key} `;
  const response = await fetch(`${on.fleet.url()}/gpt/v1/key`, { headers: { authorization } });
  expect(response.status).toBe(200);
});
