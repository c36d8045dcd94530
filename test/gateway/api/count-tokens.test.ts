/** POST /messages/count_tokens: free, outside the limit of requests, the provider's own count or an estimate that says so. */
import { beforeAll, describe, expect, test } from "bun:test";
import { tokenCountLimits } from "../../../src/gateway/api/count-tokens.ts";
import { tokenCountsPerKeyMax, tokenCountsPerMinuteMax, tokenCountsWaitingPerKeyMax } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { expectExactBalance, expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import { chat } from "../../support/gateway/requests.ts";
import type { Customer } from "../../support/operator.ts";
import { message } from "../../support/providers/anthropic-answers.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { json } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";

let fleet: Fleet;
let stub: ProviderStub;
/** Its API counts prompts. */
let claude: ProviderStub;

beforeAll(async () => {
  const shared = await startStubFleet();
  ({ fleet, stub } = shared);
  claude = shared.at("anthropic");
  claude.answer(message("Hello"));
}, 60_000);

const foo = { model: "stub/model", messages: [{ role: "user", content: "foo" }] };
const tools = [{ name: "look_up", description: "Looks up a word in a dictionary", input_schema: { type: "object" } }];

function count({ keys }: Pick<Customer, "keys">, body: unknown, path = "/messages/count_tokens"): Promise<Response> {
  const headers = { "x-api-key": keys[0]?.key ?? "", "anthropic-version": "2023-06-01" };
  return fetch(`${fleet.url()}/gpt/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function counted(made: Customer, body: unknown): Promise<number> {
  const response = await count(made, body);
  expect([response.status, response.headers.get("x-token-count")]).toEqual([200, "estimated"]);
  return ((await response.json()) as { input_tokens: number }).input_tokens;
}

describe("a count", () => {
  test("grows with the prompt and its tools, and needs no bound on output", async () => {
    const made = await fleet.operator().customer({ credit: "1" });
    const short = await counted(made, foo);
    expect(short).toBeGreaterThan(0);
    expect(await counted(made, { ...foo, tools })).toBeGreaterThan(short);
    expect(await counted(made, { ...foo, tools: [], system: "word ".repeat(1_000), max_tokens: 5 })).toBeGreaterThan(1_000);
    expect((await count(made, foo, "/v1/messages/count_tokens")).status).toBe(200);
  });

  test("takes a conversation that ends with the model's answer", async () => {
    const made = await fleet.operator().customer({ credit: "1" });
    const answered = [...foo.messages, { role: "assistant", content: "bar" }];
    expect(await counted(made, { ...foo, messages: answered })).toBeGreaterThan(await counted(made, foo));
  });

  test("of thirty at once is answered while the minute's requests are used up, and nothing is called, charged or logged", async () => {
    const made = await fleet.operator().customer({ credit: "1", requestsPerMinute: 1 });
    const ask = () => chat({ url: fleet.url(), key: made.keys[0]?.key ?? "" });
    expect((await ask()).status).toBe(200);
    const callsBefore = stub.calls.length;
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await count(made, foo)).status));
    expect(statuses).toEqual(Array.from({ length: 30 }, () => 200));
    expect((await ask()).status).toBe(429);
    expect(stub.calls).toHaveLength(callsBefore);
    await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
  });

  test.each<[string, object]>([
    ["404 not_found_error model_not_found", { ...foo, model: "none/such" }],
    ["503 api_error model_unavailable", { ...foo, model: "keyless/model" }],
    ["400 invalid_request_error invalid_request", { ...foo, messages: [] }],
    ["400 invalid_request_error invalid_request", { ...foo, model: "stub/embed" }],
  ])("%s has the API's form", async (expected, body) => {
    const response = await count(await fleet.operator().customer({ credit: "1" }), body);
    const { error } = (await response.json()) as { error: { type: string; code: string } };
    expect(`${response.status} ${error.type} ${error.code}`).toBe(expected);
  });

  test("needs a key", async () => {
    const response = await count({ keys: [] }, foo);
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([401, "false"]);
  });
});

describe("the count of a request for a response", () => {
  const ask = async (body: object, path = "/responses/input_tokens"): Promise<Response> => {
    const { keys } = await fleet.operator().customer({ credit: "1" });
    const headers = { authorization: `Bearer ${keys[0]?.key ?? ""}` };
    return fetch(`${fleet.url()}/gpt/v1${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "stub/model", ...body }),
    });
  };
  const countOf = async (body: object): Promise<number> =>
    ((await (await ask(body)).json()) as { input_tokens: number }).input_tokens;

  test("is that of the same prompt elsewhere, and no provider is called", async () => {
    const callsBefore = stub.calls.length;
    const response = await ask({ input: "foo" });
    expect([response.status, response.headers.get("x-token-count")]).toEqual([200, "estimated"]);
    const made = await fleet.operator().customer({ credit: "1" });
    expect(await response.json()).toEqual({ object: "response.input_tokens", input_tokens: await counted(made, foo) });
    const items = [{ role: "user", content: [{ type: "input_text", text: "foo" }] }];
    expect(await countOf({ input: items, instructions: "word ".repeat(1_000), stream: true })).toBeGreaterThan(1_000);
    const more = [{ type: "function", name: "look_up", description: "Looks up a word in a dictionary" }];
    expect(await countOf({ input: "foo", tools: more })).toBeGreaterThan(await countOf({ input: "foo" }));
    expect(stub.calls).toHaveLength(callsBefore);
  });

  test("is refused in the API's form", async () => {
    const refused = await ask({ input: "foo", store: true });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: expect.objectContaining({ code: "unsupported_parameter", param: "store", type: "invalid_request_error" }) },
    ]);
    expect((await ask({ input: "foo", model: "none/such" })).status).toBe(404);
    expect((await ask({ input: "foo" }, "/responses/other")).status).toBe(404);
  });
});

describe("the provider's own count", () => {
  const asked = { ...foo, model: "refusing/anthropic" };
  const customer = () => fleet.operator().customer({ credit: "1" });
  const countsFrom = (calls: number) => claude.calls.slice(calls).filter(({ path }) => path === "/v1/messages/count_tokens");

  test("is the answer where its API has one, for both APIs of ours, and leaves no trace", async () => {
    const made = await customer();
    claude.answerOnce(json({ input_tokens: 1_234 }), json({ input_tokens: 4_321 }));
    const before = claude.calls.length;
    const response = await count(made, { ...asked, max_tokens: 50, tools, stream: true, stop_sequences: ["END"] });
    expect([response.status, response.headers.has("x-token-count")]).toEqual([200, false]);
    expect(await response.json()).toEqual({ input_tokens: 1_234 });
    expect(Object.keys(countsFrom(before)[0]?.body ?? {}).toSorted()).toEqual(["messages", "model", "tools"]);
    const other = await fetch(`${fleet.url()}/gpt/v1/responses/input_tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.keys[0]?.key ?? ""}` },
      body: JSON.stringify({ model: asked.model, input: "foo" }),
    });
    expect(await other.json()).toEqual({ object: "response.input_tokens", input_tokens: 4_321 });
    expect(claude.calls).toHaveLength(before + 2);
    await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 0 });
  });

  test.each([404, 429, 500, 401])(
    "that fails with %p is replaced by the estimate, and the model stays as it was",
    async (status) => {
      const made = await customer();
      const show = async (): Promise<unknown> => {
        const headers = { authorization: `Bearer ${made.keys[0]?.key ?? ""}` };
        return (await fetch(`${fleet.url()}/gpt/v1/models/${asked.model}`, { headers })).json();
      };
      const shown = await show();
      claude.answerOnce(json({ type: "error", error: { type: "not_found_error", message: "No" } }, status));
      const before = claude.calls.length;
      expect(await counted(made, asked)).toBeGreaterThan(0);
      expect(countsFrom(before)).toHaveLength(1);
      expect(await show()).toEqual(shown);
      expect((await chat({ url: fleet.url(), key: made.keys[0]?.key ?? "", body: { model: asked.model } })).status).toBe(200);
      await expectExactBalance(fleet.operator(), made, { credit: "1", generations: 1 });
    },
  );

  test("is not asked of a provider that the workspace does not let see its prompts", async () => {
    const made = await customer();
    await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { zero_data_retention: true });
    const before = claude.calls.length;
    expect((await count(made, asked)).status).toBe(503);
    expect(claude.calls).toHaveLength(before);
  });

  test("is asked with the workspace's own key, and what the provider says of the key is no report", async () => {
    const made = await customer();
    await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { early_access: ["own_keys"] });
    await fleet.operator().call("POST", "/provider-keys", {
      workspace: made.workspace,
      provider: "anthropic",
      key: "sk-own-key-of-the-customer",
    });
    const keys = (): Promise<unknown> => fleet.operator().call("GET", `/provider-keys?workspace=${made.workspace}`);
    const stored = await keys();
    claude.answerOnce(json({ type: "error", error: { type: "authentication_error", message: "No" } }, 401));
    await counted(made, asked);
    expect(claude.calls.at(-1)?.headers["x-api-key"]).toBe("sk-own-key-of-the-customer");
    expect(await keys()).toEqual(stored);
  });

  test(`runs at most ${tokenCountsPerKeyMax} times at once for a key; more wait, and only beyond that are refused`, async () => {
    const made = await customer();
    const bound = tokenCountsPerKeyMax + tokenCountsWaitingPerKeyMax;
    const before = claude.calls.length;
    claude.hold();
    const answers = Array.from({ length: bound + 2 }, () => count(made, asked));
    const refused = await Promise.race(answers);
    expect([refused.status, refused.headers.has("retry-after")]).toEqual([429, true]);
    await claude.called(before + tokenCountsPerKeyMax);
    expect(claude.calls).toHaveLength(before + tokenCountsPerKeyMax);
    claude.release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(bound);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});

test("a key has a bound of its own for counts, which lapses with the minute", () => {
  const clock = new ManualClock();
  const { perMinute: limiter } = tokenCountLimits(clock);
  const all = (): void => {
    for (let index = 0; index < tokenCountsPerMinuteMax; index++) limiter.count("key", null);
  };
  all();
  expect(() => limiter.count("key", null)).toThrow(`${tokenCountsPerMinuteMax} calls a minute`);
  limiter.count("other", null);
  clock.advance(60_000);
  all();
});
