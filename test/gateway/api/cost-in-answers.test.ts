/** The usage in an answer has the charge if the request or the workspace wants it, and is as before for all others. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../../support/servers/fleet.ts";
import { startStubFleet } from "../../support/servers/stub-fleet.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { Customer } from "../../support/operator.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import { chat, completion } from "../../support/gateway/requests.ts";
import { chat as answer, chunk, stream, usageOf } from "../../support/providers/stub-answers.ts";

interface Told {
  choices: unknown[];
  usage?: Record<string, unknown> | null;
  error?: { code: string };
}

let stub: ProviderStub;
let fleet: Fleet;

beforeAll(async () => {
  ({ stub, fleet } = await startStubFleet());
}, 60_000);

async function customer(settings: Record<string, unknown> = {}): Promise<Customer> {
  const made = await fleet.operator().customer({ credit: "1" });
  const body = { early_access: ["completions"], fallbacks: false, ...settings };
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, body);
  return made;
}

const endpoints = { chat, completion };
type Endpoint = keyof typeof endpoints;

/** The values of an answer: one, or those of a stream's events. */
async function told(endpoint: Endpoint, { keys }: Customer, body: Record<string, unknown>): Promise<Told[]> {
  const response = await endpoints[endpoint]({ url: fleet.url(), key: keys[0]?.key ?? "", body });
  const text = await response.text();
  if (body["stream"] !== true) return [JSON.parse(text)];
  const events = text.split("\n\n").filter((event) => event !== "");
  expect(events.pop()).toBe("data: [DONE]");
  return events.map((event) => JSON.parse(event.slice("data: ".length)));
}

const include = { usage: { include: true } };
const include_usage = { stream_options: { include_usage: true } };
/** 10 input tokens at 1 USD and 4 output tokens at 2 USD per 1M tokens. */
const charged = { cost: 0.000018, cost_details: { cost_usd: "0.000018000" } };

describe.each(["chat", "completion"] as const)("the cost of a %s", (endpoint) => {
  test("is in a whole answer if the request wants it, and is what the ledger charges", async () => {
    const made = await customer();
    const [body] = await told(endpoint, made, include);
    expect(body?.usage).toMatchObject({ total_tokens: 14, ...charged });
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row?.cost_usd).toBe(charged.cost_details.cost_usd);
    expect(stub.calls.at(-1)?.rawBody).not.toContain("include");
  });

  test.each([{}, include_usage])("is in the usage chunk of a stream if the request wants it, with %j", async (options) => {
    const chunks = await told(endpoint, await customer(), { ...include, ...options, stream: true });
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: { total_tokens: 14, ...charged } });
    for (const { usage } of chunks) expect(usage).toBeNull();
  });

  test("is in every usage if the workspace wants it, and no usage chunk is sent unasked", async () => {
    const made = await customer({ cost_in_answers: true });
    const [whole] = await told(endpoint, made, {});
    expect(whole?.usage).toMatchObject(charged);
    expect((await told(endpoint, made, { ...include_usage, stream: true })).at(-1)?.usage).toMatchObject(charged);
    for (const sent of await told(endpoint, made, { stream: true })) expect(sent).not.toHaveProperty("usage");
  });

  test.each([{}, { usage: null }, { usage: { include: false } }])("is nowhere with %j", async (fields) => {
    const made = await customer();
    const [whole] = await told(endpoint, made, fields);
    const names = ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"];
    expect(Object.keys(whole?.usage ?? {})).toEqual(names);
    const last = (await told(endpoint, made, { ...fields, ...include_usage, stream: true })).at(-1);
    expect(Object.keys(last?.usage ?? {})).toEqual(names);
    for (const sent of await told(endpoint, made, { ...fields, stream: true })) expect(sent).not.toHaveProperty("usage");
  });

  test("is at most the reservation, whatever the provider counts", async () => {
    const made = await customer();
    stub.answerOnce(answer("Hello", { usage: usageOf(1_000, 100) }));
    const [body] = await told(endpoint, made, { ...include, max_tokens: 5 });
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row?.cost_usd).toBe(row?.reserved_usd ?? "");
    expect(body?.usage).toMatchObject({ cost: Number(row?.reserved_usd), cost_details: { cost_usd: row?.reserved_usd } });
  });

  test("is that of the delivered text after a failure within a stream", async () => {
    const made = await customer();
    stub.answerOnce(stream([chunk({ content: "Hello from" })], { end: "break" }));
    const [failure, usage] = (await told(endpoint, made, { ...include, stream: true })).slice(-2);
    expect(failure?.error?.code).toBe("upstream_error");
    const [row] = await expectExactLedger(fleet.operator(), made, { credit: "1", generations: 1 });
    expect(row?.usage_estimated).toBe(true);
    expect(usage?.usage).toMatchObject({ cost: Number(row?.cost_usd), cost_details: { cost_usd: row?.cost_usd } });
  });

  test("cannot be asked for in another form", async () => {
    const [body] = await told(endpoint, await customer(), { usage: { include: "yes" } });
    expect(body).toMatchObject({ error: { code: "invalid_request", param: "usage.include" } });
  });
});
