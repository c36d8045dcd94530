/**
 * What each provider of the catalog answers, played through the gateway to the official package. test/fixtures/providers has a whole
 * and a streamed answer with two calls of a tool for each: field names, forms of ids, finish reasons and places of the usage are the
 * provider's, from the sources in index.json; the contents are ours. `server` names the program whose shape it is, where the
 * provider runs a public one. Morph calls no tools, and AI21 calls none in a stream.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { supportWords } from "../../../src/gateway/api/request/requested-model.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { parseUsd } from "../../../src/kernel/money.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import { startProviderStub, type StubCall } from "../../support/providers/provider-stub.ts";
import { rawStream, text } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

interface Expected {
  /** The arguments of the calls. */
  cities: string[];
  content: string;
  reasoning: string;
  prompt: number;
  completion: number;
  cached: number;
  reasoning_tokens: number;
}

interface Recorded {
  server: "own" | "vLLM" | "SGLang";
  sources: string[];
  /** The day on which the sources were read. */
  seen: string;
  expected: Expected;
  /** What the stream has, where it differs. */
  streamed?: Expected;
}

const folder = join(import.meta.dir, "../../fixtures/providers");
const read = (path: string): string => readFileSync(path, "utf8");
const corpus = JSON.parse(read(join(folder, "index.json"))) as Record<string, Recorded>;
const shipped = JSON.parse(read(join(wholeCatalog, "providers.json"))) as ProviderEntry[];
const providers = shipped.filter(({ id }) => id in corpus);
const modelOf = (provider: string): string => `${provider}/model`;

/** In nano-USD. */
const prices = { input: 1_000, cached: 100, output: 2_000 };
const prices_per_1m_usd = { input: "1.00", cache_read: "0.10", output: "2.00" };

const messages = [{ role: "user" as const, content: "How are Oslo and Rome?" }];
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: city } }];

const stack = new AsyncDisposableStack();
let fleet: Fleet;
let client: OpenAI;
let customer: Customer;

beforeAll(async () => {
  const stub = stack.use(await startProviderStub((response, call) => recorded(call)(response, call)));
  const catalog = stack.use(await temporaryFolder());
  await writeCatalog(catalog.path, {
    providers: providers.map((provider) => callable(provider, `${stub.url}/${provider.id}`)),
    models: Object.fromEntries(providers.map(({ id }) => [id, [model(id)]])),
  });
  const environment = { [stubKeyEnv]: "sk-of-the-stub" };
  fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir: catalog.path, environment }));
  customer = await fleet.operator().customer({ credit: "1" });
  client = new OpenAI({ apiKey: customer.keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
  await until(async () => (await runnable()).length === providers.length, 30_000);
}, 90_000);

afterAll(() => stack.disposeAsync());

test("the corpus has every provider of the catalog that serves chat, with its sources", () => {
  expect(shipped.filter(({ id }) => !(id in corpus)).map(({ id }) => id)).toEqual(["voyage"]);
  expect(providers.map(({ id }) => id)).toEqual(Object.keys(corpus));
  for (const { sources, seen } of Object.values(corpus)) {
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((source) => !source.startsWith("https://"))).toEqual([]);
    expect(seen).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  }
});

describe.each(Object.entries(corpus))("%s", (provider, { expected, streamed = expected }) => {
  const request = { model: modelOf(provider), messages, tools };

  test("a whole answer", async () => {
    const completion = await client.chat.completions.create(request);
    expectAnswer(completion, expected);
    expect(reasoningOf(completion.choices[0]?.message)).toBe(expected.reasoning);
  });

  test("a stream", async () => {
    const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    let reasoning = "";
    for await (const { choices } of stream) reasoning += reasoningOf(choices[0]?.delta);
    expectAnswer(await stream.finalChatCompletion(), streamed);
    expect(reasoning).toBe(streamed.reasoning);
  });
});

test("each answer is charged by its counts", async () => {
  const generations = 2 * providers.length;
  const costs = Object.values(corpus).flatMap(({ expected, streamed }) => [costOf(expected), costOf(streamed ?? expected)]);
  const costNano = costs.reduce((sum, cost) => sum + cost, 0n);
  const rows = await expectExactLedger(fleet.operator(), customer, { credit: "1", generations, costNano });
  for (const { model: id, streamed, cost_usd, usage_estimated } of rows) {
    const { expected, ...further } = recordedAt(id.slice(0, -"/model".length));
    const counts = streamed ? (further.streamed ?? expected) : expected;
    expect({ id, streamed, cost: parseUsd(cost_usd), usage_estimated }).toEqual({
      id,
      streamed,
      cost: costOf(counts),
      usage_estimated: false,
    });
  }
});

function expectAnswer({ choices, usage }: OpenAI.ChatCompletion, expected: Expected): void {
  const [choice] = choices;
  const calls = choice?.message.tool_calls?.filter((call) => call.type === "function") ?? [];
  const asked = calls.map(({ function: { name, arguments: written } }) => ({ name, input: JSON.parse(written) as unknown }));
  expect(asked).toEqual(expected.cities.map((name) => ({ name: "get_weather", input: { city: name } })));
  const ids = calls.map(({ id }) => id).filter((id) => id !== "");
  expect(new Set(ids).size).toBe(expected.cities.length);
  expect(choice?.finish_reason).toBe(calls.length > 0 ? "tool_calls" : "stop");
  expect(choice?.message.content ?? "").toBe(expected.content);
  expect({
    prompt: usage?.prompt_tokens,
    completion: usage?.completion_tokens,
    total: usage?.total_tokens,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  }).toEqual({
    prompt: expected.prompt,
    completion: expected.completion,
    total: expected.prompt + expected.completion,
    cached: expected.cached,
    reasoning: expected.reasoning_tokens,
  });
}

/** A field that the official types do not have. */
function reasoningOf(message: object | undefined): string {
  return (message as { reasoning_content?: string | null } | undefined)?.reasoning_content ?? "";
}

function costOf({ prompt, cached, completion }: Expected): bigint {
  return BigInt((prompt - cached) * prices.input + cached * prices.cached + completion * prices.output);
}

/** The provider of the catalog with all its facts, at another address. */
function callable(provider: ProviderEntry, base_url: string): ProviderEntry {
  return { ...provider, base_url, key_env: stubKeyEnv, terms_checked: true, subprocessor_listed: true };
}

function model(provider: string): ModelEntry {
  return stubModel({ id: modelOf(provider), supports: Object.keys(supportWords), prices_per_1m_usd });
}

/** The answer of the provider whose address was called. Google's address says whether it is a stream. */
function recorded({ path, streamed }: StubCall) {
  const provider = path.split("/")[2] ?? "";
  if (streamed || path.includes(":streamGenerateContent")) return rawStream(read(join(folder, provider, "stream.txt")));
  return text(read(join(folder, provider, "whole.json")), { type: "application/json" });
}

function recordedAt(provider: string): Recorded {
  const found = corpus[provider];
  if (found === undefined) throw new Error(`The corpus has no ${provider}`);
  return found;
}

async function runnable(): Promise<string[]> {
  const { data } = await client.models.list();
  const ready = data.filter((listed) => (listed as { runnable?: boolean }).runnable === true);
  return ready.map(({ id }) => id).filter((id) => id.endsWith("/model"));
}
