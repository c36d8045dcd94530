/**
 * A prompt that a provider has counted before its answer begins is the prompt that is charged when the client leaves then, or the gateway
 * dies: in every format that tells it, and not our estimate.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer, LogRow } from "../../support/operator.ts";
import { event, message } from "../../support/providers/anthropic-answers.ts";
import { googleChat } from "../../support/providers/google-answers.ts";
import { event as responseEvent, response } from "../../support/providers/responses-answers.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, ManualStream } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

const told = 2_000;

/** What each format reports of the prompt before there is a text. */
const formats = {
  openai: {
    good: chat("Hello"),
    tells: `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: told, completion_tokens: 0 } })}\n\n`,
  },
  "openai-responses": {
    good: response("Hello"),
    tells: responseEvent({ type: "response.in_progress", response: { usage: { input_tokens: told, output_tokens: 0 } } }),
  },
  anthropic: {
    good: message("Hello"),
    tells: event({ type: "message_start", message: { usage: { input_tokens: told, output_tokens: 1 } } }),
  },
  google: {
    good: googleChat("Hello"),
    tells: `data: ${JSON.stringify({ candidates: [], usageMetadata: { promptTokenCount: told } })}\n\n`,
  },
};
type Format = keyof typeof formats;
const names = Object.keys(formats) as Format[];

const stack = new AsyncDisposableStack();
const stubs = new Map<string, ProviderStub>();
let fleet: Fleet;
let plan: Parameters<typeof Fleet.start>[0];

beforeAll(async () => {
  const folder = stack.use(await temporaryFolder());
  const { path: dataDir } = stack.use(await temporaryFolder());
  for (const name of names) stubs.set(name, stack.use(await startProviderStub(formats[name].good)));
  const catalogDir = await writeCatalog(folder.path, {
    providers: names.map((format) => stubProvider({ id: format, format, base_url: stubs.get(format)?.url ?? "" })),
    models: Object.fromEntries(names.map((format) => [format, [stubModel({ id: `${format}/model` })]])),
  });
  plan = { services: null, catalogDir, dataDir, environment: { [stubKeyEnv]: "sk-of-the-stub" } };
  fleet = stack.use(await Fleet.start(plan));
  await fleet.runnable(names.map((name) => `${name}/model`));
}, 60_000);
afterAll(() => stack.disposeAsync());

const customer = (): Promise<Customer> => fleet.operator().customer({ credit: "10" });

/** Asks for a stream whose provider counts the prompt and then thinks. @returns when a dead gateway's successor would know the count */
async function askOne(format: Format, { keys }: Customer): Promise<AbortController> {
  const before = (await spooled()).split(`,${told},0,0,0]`).length;
  const answering = new ManualStream();
  stubs.get(format)?.answerOnce(answering.answer);
  const leaving = new AbortController();
  const answer = fetch(`${fleet.url()}/gpt/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[0]?.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: `${format}/model`, stream: true, messages: [{ role: "user", content: "Hi" }] }),
    signal: leaving.signal,
  });
  answer.catch(() => {});
  await answering.write(formats[format].tells);
  await until(async () => (await spooled()).split(`,${told},0,0,0]`).length > before);
  return leaving;
}

async function spooled(): Promise<string> {
  const paths = await readdir(fleet.dataDir, { recursive: true });
  const lines = paths.filter((path) => path.endsWith(".jsonl")).map((path) => readFile(join(fleet.dataDir, path), "utf8"));
  return (await Promise.all(lines)).join("");
}

const rowOf = async (on: Customer): Promise<LogRow | undefined> =>
  (await expectExactLedger(fleet.operator(), on, { credit: "10", generations: 1 }))[0];

test.each(names)(
  "a client that leaves before the first text pays for the prompt that a provider of format %s told",
  async (format) => {
    const on = await customer();
    (await askOne(format, on)).abort();
    expect(await rowOf(on)).toMatchObject({ code: "client_gone", prompt_tokens: told, usage_estimated: true });
  },
);

test("a gateway that dies then leaves that prompt to its successor", async () => {
  const on = await Promise.all(names.map(customer));
  await Promise.all(names.map((format, index) => askOne(format, on[index] as Customer)));
  await fleet.gateways[0]?.process.kill();
  await fleet[Symbol.asyncDispose]();
  fleet = stack.use(await Fleet.start({ ...plan, inTest: true }));
  for (const one of on) expect(await rowOf(one)).toMatchObject({ code: "internal_error", prompt_tokens: told });
}, 60_000);
