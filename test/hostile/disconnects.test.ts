/**
 * Clients that hang up, providers with absurd counts and killed gateways, over real HTTP: each request that reached a provider is
 * charged, and never more than was reserved. Prices are 1 USD per 1M input and 10 USD per 1M output tokens.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseUsd } from "../../src/kernel/money.ts";
import { drainsPerWorkspaceMax } from "../../src/gateway/limits.ts";
import { countedText } from "../gateway/models/texts.ts";
import { event, message, messageEvents } from "../support/providers/anthropic-answers.ts";
import { googleChat, googleUsage } from "../support/providers/google-answers.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { Fleet } from "../support/servers/fleet.ts";
import type { Customer, LogRow } from "../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import {
  event as responseEvent,
  openaiResponsesAndChat,
  responseEvents,
  responseUsage,
} from "../support/providers/responses-answers.ts";
import { chat, chunk, ManualStream, silent, stream, usageOf, type StubAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const stack = new AsyncDisposableStack();
let stub: ProviderStub;
let fleet: Fleet;
let plan: Parameters<typeof Fleet.start>[0];

beforeAll(async () => {
  stub = stack.use(await startProviderStub(hello));
  const folder = stack.use(await temporaryFolder());
  const { path: dataDir } = stack.use(await temporaryFolder());
  const limits = { context_length: 1_000_000, max_output_tokens: 30_000 };
  const model = { ...limits, prices_per_1m_usd: { input: "1.00", output: "10.00" } };
  const catalogDir = await writeCatalog(folder.path, {
    providers: [
      stubProvider({ id: "cancels", base_url: stub.url }),
      stubProvider({ id: "bills-on", base_url: stub.url, cancel_stops_billing: false }),
      stubProvider({ id: "claude", format: "anthropic", base_url: stub.url }),
      stubProvider({ id: "gemini", format: "google", base_url: stub.url }),
      stubProvider({ id: "gpt", format: "openai-responses", base_url: stub.url }),
    ],
    models: {
      cancels: [stubModel({ ...model, id: "cancels/plain" }), stubModel({ ...model, id: "cancels/thinker", reasons: true })],
      "bills-on": [stubModel({ ...model, id: "bills-on/plain" })],
      claude: [stubModel({ ...model, id: "claude/plain" })],
      gemini: [stubModel({ ...model, id: "gemini/plain" })],
      gpt: [stubModel({ ...model, id: "gpt/plain" })],
    },
  });
  plan = { services: null, catalogDir, dataDir, environment: { [stubKeyEnv]: "sk-of-the-stub" } };
  fleet = stack.use(await Fleet.start(plan));
  for (const id of ["cancels/plain", "cancels/thinker", "bills-on/plain", "claude/plain", "gemini/plain", "gpt/plain"])
    await fleet.runnable(id);
}, 60_000);
afterAll(() => stack.disposeAsync());

/** In the format of the call. */
const hello: StubAnswer = (response, call) => {
  const google = call.path.includes("enerateContent") ? googleChat("Hello") : null;
  return (google ?? (call.path.endsWith("/messages") ? message("Hello") : openaiResponsesAndChat("Hello")))(response, call);
};

const customer = (more = {}): Promise<Customer> => fleet.operator().customer({ credit: "10", ...more });

interface Asked {
  model: string;
  content?: string;
  streamed?: boolean;
}

/** @returns the answer, and a function that hangs up */
function ask({ keys }: Customer, { model, content = "Hello", streamed = true }: Asked) {
  const leaving = new AbortController();
  const answer = fetch(`${fleet.url()}/gpt/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[0]?.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: streamed, messages: [{ role: "user", content }] }),
    signal: leaving.signal,
  });
  answer.catch(() => {});
  return { answer, leave: () => leaving.abort() };
}

/** Reads until the text has arrived, and hangs up. */
async function leaveAt(text: string, { answer, leave }: ReturnType<typeof ask>): Promise<void> {
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = ""; !seen.includes(text);) seen += (await reader?.read())?.value ?? "";
  leave();
}

async function only(of: Customer, credit = "10"): Promise<LogRow & { cost: bigint }> {
  const [row] = await expectExactLedger(fleet.operator(), of, { credit, generations: 1 });
  if (row === undefined) throw new Error("There is no generation");
  return { ...row, cost: parseUsd(row.cost_usd) };
}

async function readOn(): Promise<number> {
  const metrics = await (await fleet.operator().send("/metrics")).text();
  return Number(/^weir_streams_read_on (\d+)$/m.exec(metrics)?.[1]);
}

/** The current contents of the spool. */
async function spooled(): Promise<string> {
  const paths = await readdir(fleet.dataDir, { recursive: true });
  const lines = paths.filter((path) => path.endsWith(".jsonl")).map((path) => readFile(join(fleet.dataDir, path), "utf8"));
  return (await Promise.all(lines)).join("");
}

const thought = { prompt_tokens: 5_000, completion_tokens: 20_020, total_tokens: 25_020 };

test.each(["cancels/thinker", "bills-on/plain"])(
  "a client that hangs up after the whole visible answer of %s pays for all of it",
  async (model) => {
    const on = await customer();
    const answering = new ManualStream();
    stub.answerOnce(answering.answer);
    const asking = ask(on, { model });
    await answering.piece("The answer. END");
    await leaveAt("END", asking);
    await until(async () => (await readOn()) === 1);
    await answering.finish(thought);
    expect(await only(on)).toMatchObject({ code: "client_gone", usage_estimated: false, cost: 205_200_000n });
  },
);

/** Sends an answer up to its last word, and then the rest, with the counts of the provider. */
interface Ending {
  begin(stream: ManualStream, text: string): Promise<void>;
  end(stream: ManualStream): Promise<void>;
}

const { text: csv, tokens: promptTokens } = countedText(1, "numeric CSV");
const completionTokens = 9;
const claudeUsage = { input_tokens: promptTokens, output_tokens: completionTokens };
const claudeEvents = (text: string): string[] => messageEvents(text, { usage: claudeUsage, pieces: [text] }).map(event);

const gptUsage = responseUsage(promptTokens, completionTokens);
const gptEvents = (text: string): string[] => responseEvents(text, { usage: gptUsage, pieces: [text] }).map(responseEvent);

const endings: Record<string, Ending> = {
  "cancels/plain": {
    begin: (on, text) => on.piece(text),
    end: (on) => on.finish(usageOf(promptTokens, completionTokens)),
  },
  "claude/plain": {
    begin: (on, text) => on.write(claudeEvents(text).slice(0, -3).join("")),
    end: (on) => on.write(claudeEvents("").slice(-2).join("")),
  },
  "gpt/plain": {
    begin: (on, text) => on.write(gptEvents(text).slice(0, -2).join("")),
    end: (on) => on.write(gptEvents("").at(-1) ?? ""),
  },
  "gemini/plain": {
    begin: (on, text) => on.send(geminiChunk(text, null, 1)),
    end: (on) => on.send(geminiChunk("", "STOP", completionTokens)),
  },
};

function geminiChunk(text: string, finishReason: string | null, written: number): unknown {
  const content = { role: "model", parts: [{ text }] };
  const candidate = { content, index: 0, ...(finishReason !== null && { finishReason }) };
  return { candidates: [candidate], usageMetadata: googleUsage(promptTokens, written) };
}

test.each(Object.entries(endings))(
  "a client that hangs up at the last word of an answer of %s pays what the provider counts",
  async (model, { begin, end }) => {
    const on = await customer();
    const answering = new ManualStream();
    stub.answerOnce(answering.answer);
    const asking = ask(on, { model, content: csv });
    await begin(answering, "1.5,2.25,END");
    await leaveAt("END", asking);
    // The gateway has noticed the abort by then, since it answers the same client's next request.
    await fetch(`${fleet.url()}/health`);
    await end(answering);
    expect(await only(on)).toMatchObject({
      code: "client_gone",
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      cost: BigInt(promptTokens) * 1_000n + BigInt(completionTokens) * 10_000n,
    });
  },
);

test.each(["numeric CSV", "base64", "hex", "UUIDs", "punctuation", "emoji"] as const)(
  "a client that hangs up in the middle of %s pays at least 80 % of what its provider bills",
  async (kind) => {
    const on = await customer();
    const [prompt, produced] = [countedText(1, kind), countedText(2, kind)];
    const calls = stub.calls.length;
    const answering = new ManualStream();
    stub.answerOnce(answering.answer);
    const asking = ask(on, { model: "cancels/plain", content: prompt.text });
    await answering.piece(`${produced.text} HERE`);
    await leaveAt("HERE", asking);
    await fetch(`${fleet.url()}/health`);
    await answering.piece(" and the answer goes on".repeat(10));
    expect((await stub.ended(calls + 1)).state).toBe("cancelled");
    const bill = prompt.tokens * 1_000 + produced.tokens * 10_000;
    const row = await only(on);
    expect(row.usage_estimated).toBe(true);
    expect(Number(row.cost)).toBeWithin(bill * 0.8, bill * 1.25);
  },
);

test("a client that hangs up before the first token pays for the prompt", async () => {
  const on = await customer();
  const calls = stub.calls.length;
  stub.answerOnce(silent);
  const { leave } = ask(on, { model: "cancels/plain", content: "word ".repeat(100_000) });
  await stub.called(calls + 1);
  leave();
  expect((await stub.ended(calls + 1)).state).toBe("cancelled");
  expect((await only(on)).cost).toBeGreaterThanOrEqual(100_000_000n);
});

test("a client that hangs up during an answer without streaming pays for it, since the provider works on", async () => {
  const on = await customer();
  const calls = stub.calls.length;
  stub.hold();
  stub.answerOnce(chat("An answer", { usage: { prompt_tokens: 5_000, completion_tokens: 50_000, total_tokens: 55_000 } }));
  const { leave } = ask(on, { model: "cancels/plain", streamed: false });
  await stub.called(calls + 1);
  leave();
  // The gateway has noticed the abort by then, since it answers the same client's next request.
  await fetch(`${fleet.url()}/health`);
  stub.release();
  expect((await stub.ended(calls + 1)).state).toBe("answered");
  const row = await only(on);
  expect(row).toMatchObject({ usage_estimated: false, completion_tokens: 50_000 });
  expect(row.cost).toBe(parseUsd(row.reserved_usd));
});

test("each of many clients that hang up at once is charged, even when Weir cannot read all of their streams on", async () => {
  const on = await customer();
  const calls = stub.calls.length;
  const many = drainsPerWorkspaceMax + 8;
  const streams = Array.from({ length: many }, () => new ManualStream());
  stub.answerOnce(...streams.map(({ answer }) => answer));
  const askings = streams.map(() => ask(on, { model: "cancels/thinker" }));
  await stub.called(calls + many);
  await Promise.all(streams.map((one) => one.piece("The answer. END")));
  await Promise.all(askings.map((one) => leaveAt("END", one)));
  await until(() => stub.calls.slice(calls).filter(({ state }) => state === "cancelled").length === 8);
  await Promise.all(streams.map((one) => one.finish(thought).catch(() => {})));
  const rows = await expectExactLedger(fleet.operator(), on, { credit: "10", generations: many });
  expect(rows.filter(({ completion_tokens }) => completion_tokens === 20_020)).toHaveLength(drainsPerWorkspaceMax);
  expect(rows.filter(({ cost_usd }) => parseUsd(cost_usd) === 0n)).toEqual([]);
});

test.each<[string, Record<string, unknown>, Partial<LogRow>]>([
  [
    "a count above the possible maximum",
    { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 4 },
    { completion_tokens: 4, usage_estimated: true },
  ],
  [
    "two counts above the possible maximum",
    { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 9_007_199_254_740_991 },
    { usage_estimated: true },
  ],
  [
    "a total that contradicts its parts",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 2_000_000 },
    { completion_tokens: 5 },
  ],
  ["a prompt without an output", { prompt_tokens: 12 }, { prompt_tokens: 12, completion_tokens: 199, usage_estimated: true }],
  ["an output without a prompt", { completion_tokens: 40 }, { prompt_tokens: 5, completion_tokens: 40, usage_estimated: true }],
  [
    "a prompt of zero",
    { prompt_tokens: 0, completion_tokens: 40 },
    { prompt_tokens: 5, completion_tokens: 40, usage_estimated: true },
  ],
  [
    "an output of zero",
    { prompt_tokens: 12, completion_tokens: 0 },
    { prompt_tokens: 12, completion_tokens: 199, usage_estimated: true },
  ],
  ["more than was reserved", { prompt_tokens: 900_000, completion_tokens: 30_000 }, { usage_estimated: false }],
])("with %s from a provider, the charge is at most the reservation, and a missing count is estimated", async (_, usage, row) => {
  for (const streamed of [true, false]) {
    const on = await customer();
    stub.answerOnce(chat("x".repeat(200), { usage }));
    const { answer } = ask(on, { model: "cancels/plain", streamed });
    await (await answer).text();
    const logged = await only(on);
    expect<unknown>(logged).toMatchObject(row);
    expect(logged.cost).toBeLessThanOrEqual(parseUsd(logged.reserved_usd));
    expect(logged.cost).toBeGreaterThan(0n);
  }
});

test("the sandbox's own counts exceed neither a reservation nor a key's limit", async () => {
  const on = await customer({ keyLimit: "0.01" });
  const { answer } = ask(on, { model: "sandbox/echo", content: "sandbox: usage=999999999,999999999", streamed: false });
  expect((await answer).status).toBe(200);
  expect((await only(on)).cost).toBeLessThanOrEqual(10_000_000n);
});

test("after the kill of a gateway, the prompt and the text delivered until a second before are charged", async () => {
  const on = await customer();
  const words = Array.from({ length: 100 }, () => chunk({ content: "word " }));
  stub.answerOnce(stream(words, { end: "open" }));
  const { answer } = ask(on, { model: "cancels/plain", content: "word ".repeat(10_000) });
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = 0; seen < 100;) seen += ((await reader?.read())?.value ?? "").match(/word/g)?.length ?? 0;
  await until(async () => (await spooled()).includes(",11004,0,0,110]"));
  await fleet.gateways[0]?.process.kill();
  await fleet[Symbol.asyncDispose]();
  fleet = stack.use(await Fleet.start({ ...plan, inTest: true }));
  const row = await only(on);
  expect(row).toMatchObject({ code: "internal_error", usage_estimated: true, prompt_tokens: 11_004, completion_tokens: 110 });
  expect(row.cost).toBe(11_004_000n + 1_100_000n);
}, 60_000);
