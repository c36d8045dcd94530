/** A prompt without `max_tokens` that leaves less of the context than the model can write, at a provider that refuses what does not fit. */
import { beforeAll, describe, expect, test } from "bun:test";
import { chat } from "../../support/gateway/requests.ts";
import type { Customer } from "../../support/operator.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat as answer, json, usageOf, type StubAnswer } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { boundedContext as context, boundedOutput, startStubFleet } from "../../support/servers/stub-fleet.ts";
import { until } from "../../support/until.ts";

let stub: ProviderStub;
let fleet: Fleet;
let customer: Customer;

/** As vLLM does: a token is four characters here. */
const strict: StubAnswer = (response, call) => {
  const [prompt, output] = [promptTokens(call.rawBody), Number(call.body["max_tokens"])];
  const message = `This model's maximum context length is ${context} tokens. However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion).`;
  const refused = json({ object: "error", message, type: "BadRequestError", param: null, code: 400 }, 400);
  // It writes as much as it was allowed.
  return (prompt + output > context ? refused : answer("Hello", { usage: usageOf(prompt, output) }))(response, call);
};

function promptTokens(body: string): number {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  return Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4);
}

/** English words, some of four characters a token. */
const words = (characters: number): string => "the rain in the hills ".repeat(Math.ceil(characters / 22)).slice(0, characters);

beforeAll(async () => {
  const shared = await startStubFleet();
  ({ fleet } = shared);
  stub = shared.at("bounded");
  stub.answer(strict);
  customer = await fleet.operator().customer({ credit: "10", earlyAccess: ["routing"] });
}, 60_000);

async function ask(fields: Record<string, unknown>) {
  const calls = stub.calls.length;
  const response = await chat({ url: fleet.url(), key: customer.keys[0]?.key ?? "", body: { model: "bounded/half", ...fields } });
  const text = await response.text();
  const generation = response.headers.get("x-generation-id");
  const sent = stub.calls.slice(calls).map(({ body }) => Number(body["max_tokens"]));
  const error = text.startsWith('{"error"')
    ? (JSON.parse(text) as { error: { code: string; param: string | null; message: string } }).error
    : null;
  return { status: response.status, text, generation, sent, error };
}

async function logged(generation: string | null): Promise<Record<string, unknown>> {
  const row = async () =>
    (await fleet.operator().log(`workspace=${customer.workspace}`)).find((one) => one.generation_id === generation);
  await until(async () => (await row()) !== undefined);
  return { ...(await row()) };
}

describe.each([false, true])("streamed: %p", (stream) => {
  test("a prompt of 80,000 tokens is served by a model that can write half of its context", async () => {
    const { status, sent, generation } = await ask({ stream, messages: [{ role: "user", content: words(320_000) }] });
    expect(status).toBe(200);
    expect(sent[0]).toBeLessThan(context - 80_000);
    expect(sent[0]).toBeGreaterThan(context / 8);
    // Reserved is the whole context of prompt at 1 USD per 1M tokens, and what was asked for at 2 USD; charged is what was counted.
    const nano = context * 1_000 + Number(sent[0]) * 2_000;
    expect(await logged(generation)).toMatchObject({
      reserved_usd: (nano / 1e9).toFixed(9),
      cost_usd: ((80_000 * 1_000 + Number(sent[0]) * 2_000) / 1e9).toFixed(9),
    });
  });

  test("a short prompt is asked for all that fits for certain", async () => {
    const messages = [{ role: "user", content: "Hello" }];
    expect((await ask({ stream, messages })).sent).toEqual([boundedOutput]);
    const { status, sent } = await ask({ stream, model: "bounded/all", messages });
    expect(status).toBe(200);
    expect(sent[0]).toBeGreaterThan(context - 100);
  });

  test("a bound of the client is sent as it is, and one that does not fit is refused by its name", async () => {
    const { status, sent, error } = await ask({
      stream,
      max_completion_tokens: 60_000,
      messages: [{ role: "user", content: words(320_000) }],
    });
    expect([status, sent, error?.code, error?.param]).toEqual([400, [60_000], "upstream_rejected", "max_completion_tokens"]);
    expect(error?.message).toContain("maximum context length");
  });

  test("what is longer than the context is refused by its provider, and the prompt is named", async () => {
    const { status, sent, error } = await ask({ stream, messages: [{ role: "user", content: words(640_000) }] });
    expect([status, sent, error?.code, error?.param]).toEqual([400, [1_024], "upstream_rejected", "messages"]);
  });
});

test("of several models each is asked for what the prompt leaves of its own context, and the reservation covers the dearest", async () => {
  stub.answerOnce(json({ error: { message: "x", code: "server_error" } }, 500));
  const body = { model: "bounded/small", models: ["bounded/half"], messages: [{ role: "user", content: words(120_000) }] };
  const { status, sent, generation } = await ask(body);
  expect(status).toBe(200);
  const [small = 0, half = 0] = sent;
  expect(small).toBeLessThan(10_000);
  expect([sent.length, half]).toEqual([2, boundedOutput]);
  const { reserved_usd: reserved } = await logged(generation);
  // The prompt's 120,000 bytes, 16 for the message and 64 hidden ones.
  expect(reserved).toBe(((120_080 * 1_000 + boundedOutput * 2_000) / 1e9).toFixed(9));
});
