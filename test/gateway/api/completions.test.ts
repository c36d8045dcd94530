/** POST /completions goes through the pipeline of chat completions, for workspaces that have it switched on. */
import { beforeAll, describe, expect, test } from "bun:test";
import { bodyBytesMax } from "../../../src/gateway/limits.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { Customer } from "../../support/operator.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import { chat } from "../../support/gateway/requests.ts";
import { until } from "../../support/until.ts";

let stub: ProviderStub;
let fleet: Fleet;

beforeAll(async () => {
  ({ stub, fleet } = await startStubFleet());
}, 60_000);

async function customer(settings: Record<string, unknown> = { early_access: ["completions"] }): Promise<Customer> {
  const made = await fleet.operator().customer({ credit: "1" });
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, settings);
  return made;
}

function complete({ keys }: Customer, fields: Record<string, unknown> = {}): Promise<Response> {
  return post(keys[0]?.key ?? "", JSON.stringify({ model: "stub/model", prompt: "Hi", ...fields }));
}

function post(key: string, body: string): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/completions`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body });
}

async function problem(response: Response): Promise<string> {
  const { error: told } = (await response.json()) as { error: { code: string; param: string | null } };
  return `${response.status} ${told.code} ${told.param}`;
}

describe("completions switched off", () => {
  test("a wrong key is 401 and a right one 403, whatever the body is, which is not read", async () => {
    const [key = { key: "" }] = (await customer({})).keys;
    const tooLong = "x".repeat(bodyBytesMax + 1);
    for (const body of ["{broken", JSON.stringify({ model: "stub/model", prompt: "Hi" }), tooLong]) {
      expect(await problem(await post(`${key.key.slice(0, -64)}${"0".repeat(64)}`, body))).toBe("401 invalid_api_key null");
      const refused = await post(key.key, body);
      expect(refused.headers.has("x-generation-id")).toBe(false);
      expect(await problem(refused)).toBe("403 gateway_disabled null");
    }
  });

  test("a workspace that is switched off while requests fly answers them and refuses the next ones", async () => {
    const made = await customer();
    const flying = Array.from({ length: 8 }, () => complete(made));
    await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, { early_access: [] });
    for (const { status } of await Promise.all(flying)) expect([200, 403]).toContain(status);
    await until(async () => (await complete(made)).status === 403);
    expect((await chat({ url: fleet.url(), key: made.keys[0]?.key ?? "" })).status).toBe(200);
  });
});

describe("completions switched on", () => {
  test("the provider gets one message and 16 tokens at most, and the answer is charged as its usage counts", async () => {
    const made = await customer();
    const response = await complete(made);
    const id = response.headers.get("x-generation-id");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("9999");
    expect(await response.json()).toEqual({
      id,
      object: "text_completion",
      created: expect.any(Number),
      model: "stub/model",
      choices: [{ text: "Hello from the stub", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 4,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect(JSON.parse(stub.calls.at(-1)?.rawBody ?? "")).toMatchObject({
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 16,
    });
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    // 2 bytes, 16 for the message and 64 hidden ones at 1 USD per 1M tokens, and 16 at 2 USD.
    expect(row).toMatchObject({
      generation_id: id,
      endpoint: "completions",
      reserved_usd: "0.000114000",
      cost_usd: "0.000018000",
    });
  });

  test("a stream has the text in pieces, the reason, the usage chunk and [DONE], and is settled like a chat's", async () => {
    const made = await customer();
    const response = await complete(made, { stream: true, stream_options: { include_usage: true } });
    const events = (await response.text()).split("\n\n").filter((event) => event !== "");
    expect(events.pop()).toBe("data: [DONE]");
    const chunks = events.map((event) => JSON.parse(event.slice("data: ".length)));
    expect(new Set(chunks.map(({ id, object, created }) => `${id} ${object} ${created}`)).size).toBe(1);
    const usage = chunks.pop();
    expect(usage).toMatchObject({ object: "text_completion", choices: [], usage: { total_tokens: 14 } });
    const choices = chunks.map((chunk) => chunk.choices[0]);
    expect(choices.map((choice) => choice.text).join("")).toBe("Hello from the stub");
    expect(choices.map((choice) => choice.finish_reason)).toEqual([null, null, null, null, "stop"]);
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row).toMatchObject({ endpoint: "completions", streamed: true, cost_usd: "0.000018000" });
  });

  test.each([false, true])("with prompt storage the prompt and its answer are stored, streamed: %p", async (stream) => {
    const made = await customer({ early_access: ["completions"], prompt_storage: true });
    const response = await complete(made, { prompt: ["What is a weir?"], stream });
    await response.text();
    const id = response.headers.get("x-generation-id");
    await until(async () => (await fleet.operator().send(`/api/console/prompts/${id}`)).ok);
    expect(await fleet.operator().call("GET", `/prompts/${id}`)).toMatchObject({
      messages: [{ role: "user", content: "What is a weir?" }],
      answer: { content: "Hello from the stub" },
    });
  });
});
