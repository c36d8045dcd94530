/** The exact bytes and headers on the wire. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import { formatsStage } from "./formats-stage.ts";

let fleet: Fleet;
let key = "";

beforeAll(async () => {
  ({ fleet } = await formatsStage());
  const { keys } = await fleet.operator().customer({ credit: "10" });
  key = keys[0]?.key ?? "";
}, 60_000);

function call(path: string, init: RequestInit = {}, token = key): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...Object.fromEntries(new Headers(init.headers)) };
  return fetch(`${fleet.url()}/gpt/v1${path}`, { ...init, headers });
}

function chat(content: string, fields: Record<string, unknown> = {}): Promise<Response> {
  const body = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content }], ...fields });
  return call("/chat/completions", { method: "POST", body, headers: { "content-type": "application/json" } });
}

describe("a streamed answer", () => {
  test("a streamed answer consists of exactly these lines", async () => {
    const response = await chat("12345678", { stream: true, stream_options: { include_usage: true } });
    const id = response.headers.get("x-generation-id");
    const text = await response.text();
    const created = /"created":(\d+)/.exec(text)?.[1];
    const head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":"sandbox/echo","choices":[`;
    const chunk = (delta: string, finish = "null") =>
      `${head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null}`;
    expect(text.split("\n\n")).toEqual([
      chunk('{"role":"assistant","content":"","refusal":null}'),
      chunk('{"content":"1234"}'),
      chunk('{"content":"5678"}'),
      chunk("{}", '"stop"'),
      `${head}],"usage":{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4,` +
        '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
      "data: [DONE]",
      "",
    ]);
  });

  test("a streamed answer has headers that keep proxies from buffering it", async () => {
    const { headers } = await chat("Hi", { stream: true });
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(headers.get("x-accel-buffering")).toBe("no");
  });

  test("a stream whose provider fails at once becomes an ordinary error", async () => {
    const response = await chat("sandbox: status=529", { stream: true });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: "upstream_error", type: "api_error", param: null } });
  });

  test("an interrupted stream ends with an error body of type api_error, the usage chunk and [DONE]", async () => {
    const response = await chat("sandbox: tokens=50 break_after=5", { stream: true, stream_options: { include_usage: true } });
    const [error, usage, done, rest] = (await response.text()).split("\n\n").slice(-4);
    expect(JSON.parse(error?.slice(6) ?? "")).toMatchObject({
      error: { type: "api_error", code: "upstream_error", param: null },
    });
    expect(JSON.parse(usage?.slice(6) ?? "")).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect([done, rest]).toEqual(["data: [DONE]", ""]);
  });
});

describe("headers", () => {
  test("the headers of an accepted request contain its generation, its audit id and the key's window", async () => {
    const { headers } = await chat("Hi");
    expect(headers.get("x-generation-id")).toMatch(/^gen-[a-z2-7]{26}$/);
    expect(headers.get("x-request-id")).toMatch(/^req-/);
    expect(headers.get("x-ratelimit-limit-requests")).toBe("10000");
    expect(Number(headers.get("x-ratelimit-remaining-requests"))).toBeLessThan(10_000);
    expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^(\d+ms|[\d.]+s|1m0s)$/);
  });

  test("the headers of a refused request contain no generation and no audit id", async () => {
    const { headers, status } = await chat("Hi", { model: "acme/none" });
    expect(status).toBe(404);
    expect(headers.has("x-generation-id") || headers.has("x-request-id")).toBe(false);
    expect(headers.has("x-ratelimit-limit-requests")).toBe(true);
  });

  test("the headers of a request refused before the rate check do not contain the window", async () => {
    expect((await chat("Hi", { temperature: 3 })).headers.has("x-ratelimit-limit-requests")).toBe(false);
  });
});

describe("unserved paths and methods", () => {
  test.each(["/nothing", "/", "/chat", "/models/sandbox/echo/more"])("%s", async (path) => {
    const response = await call(path);
    expect(response.status).toBe(404);
  });

  test("an unserved path gets the error with `detail`, with or without a key", async () => {
    for (const token of [key, "none"]) expect(await (await call("/nothing", {}, token)).json()).toEqual({ detail: "Not Found" });
  });

  test.each([
    ["GET", "/chat/completions"],
    ["DELETE", "/chat/completions"],
    ["GET", "/embeddings"],
    ["POST", "/models"],
    ["POST", "/key"],
  ])("%s %s gets a 405 with `detail`", async (method, path) => {
    const response = await call(path, { method });
    expect(response.status).toBe(405);
    expect(await response.json()).toEqual({ detail: "Method Not Allowed" });
  });

  test.each(["/embeddings", "/completions"])("POST %s is 403 gateway_disabled with a key, 401 without", async (path) => {
    const body = JSON.stringify({ model: "sandbox/echo", input: "Hi" });
    const post = (token: string) => call(path, { method: "POST", body }, token);
    expect(await (await post(key)).json()).toMatchObject({ error: { code: "gateway_disabled", type: "permission_error" } });
    expect((await post("none")).status).toBe(401);
  });
});

test("a model is found by its id with a plain and with an escaped slash", async () => {
  const [plain, escaped] = await Promise.all([call("/models/sandbox/echo"), call("/models/sandbox%2Fecho")]);
  expect(plain.status).toBe(200);
  expect(await plain.json()).toEqual(await escaped.json());
});
