/**
 * For every recorded answer of every format: the gateway's answer is valid by the official schema, has the provider's contents, and is
 * charged to the token. In a fleet, and as a completion, one answer of each kind stands for the others: `formats.test.ts` decodes all.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { errorTable, type ErrorCode } from "../../src/kernel/errors.ts";
import { parseUsd } from "../../src/kernel/money.ts";
import type { ReportedUsage } from "../../src/gateway/models/model.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { chat, completion } from "../support/gateway/requests.ts";
import { officialCompletion, officialError, officialTextCompletion } from "./official-types.ts";
import { Completion, conforming, ErrorBody, TextCompletion } from "./schemas.ts";
import { readSentStream, readSentText, type SentStream } from "./sent-stream.ts";
import { modelOf, modes, playable, stage, type Stage } from "./stage.ts";
import {
  kindOfAnswer,
  kindOfStream,
  oneOfEachKind,
  upstreams,
  type StreamCase,
  type Upstream,
  type WholeCase,
} from "./upstreams.ts";

/** The mark of a provider's free text in the recordings. */
const canary = "CANARY";
const credit = "10";
const sentFields = ["model", "messages", "messages[0]", "messages[0].content", "prompt", "max_tokens"];

for (const mode of modes) {
  for (const upstream of upstreams) {
    describe.skipIf(!playable(mode))(`${mode}, a provider that speaks ${upstream.name}`, () => conformance(mode, upstream));
  }
  describe.skipIf(!playable(mode))(`${mode}, the sandbox`, () => sandbox(mode));
}

function conformance(mode: (typeof modes)[number], { name: format, whole, streams, errors }: Upstream): void {
  let on: Stage;
  let stub: ProviderStub;
  let customer: Customer;
  /** The expected cost of each generation in nano-USD; null: estimated. */
  const costs = new Map<string, bigint | null>();

  beforeAll(async () => {
    on = await stage(mode);
    stub = on.stub(format);
    customer = await on.fleet.operator().customer({ credit });
    // One call for each request, so that the client sees the recorded failure.
    const settings = { fallbacks: false, early_access: ["completions"] };
    await on.fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, settings);
  }, 90_000);

  async function ask(fields: Record<string, unknown> = {}): Promise<Response> {
    const key = customer.keys[0]?.key ?? "";
    return chat({ url: on.fleet.url(), key, body: { model: modelOf(format), ...fields } });
  }

  function note(response: Response, cost: bigint | null): void {
    const generation = response.headers.get("x-generation-id") ?? "";
    expect(generation).toMatch(/^gen-/);
    costs.set(generation, cost);
  }

  async function expectError(response: Response, code: ErrorCode): Promise<string> {
    note(response, 0n);
    expect(response.status).toBe(errorTable[code].status);
    const { error } = conforming(ErrorBody, await response.json());
    expect(officialError({ error })).toMatchObject({ code, type: errorTable[code].type });
    // A refused request may have a field, and only one of those that were sent.
    expect(code === "upstream_rejected" ? [null, ...sentFields] : [null]).toContain(error.param);
    expect(error.message).not.toContain(canary);
    return error.message;
  }

  const isFleet = mode === "distributed";
  const answers = isFleet ? oneOfEachKind(whole, kindOfAnswer) : whole;
  const sentStreams = isFleet ? oneOfEachKind(streams, kindOfStream) : streams;

  test.each(answers.map((one) => [one.name, one] as const))(
    "the gateway's answer for a complete answer: %s",
    async (_, one: WholeCase) => {
      stub.answerOnce(one.answer);
      const response = await ask();
      if (one.failure !== null) return void (await expectError(response, one.failure));
      const { expected } = one;
      note(response, costOf(expected?.usage ?? null, { saysNothing: !expected?.content && !expected?.toolCalls }));
      const [choice] = officialCompletion(conforming(Completion, await response.json())).choices;
      expect(choice?.message).toMatchObject({ content: expected?.content ?? null, refusal: expected?.refusal ?? null });
      expect<unknown>(choice?.message.tool_calls).toEqual(expected?.toolCalls);
      expect<unknown>(choice?.finish_reason).toBe(expected?.finishReason);
    },
  );

  // Each mode streams in one of the two ways, since nothing else differs.
  const includeUsage = mode === "embedded";

  test.each(sentStreams.map((one) => [one.name, one] as const))(
    "the gateway's stream for a stream: %s",
    async (_, one: StreamCase) => {
      stub.answerOnce(one.answer);
      const response = await ask({ stream: true, ...(includeUsage && { stream_options: { include_usage: true } }) });
      if (response.status !== 200) {
        expect(one).toMatchObject({ text: "", finishReason: null });
        return void (await expectError(response, present(one.failure)));
      }
      const sent = readSentStream(await response.text(), { includeUsage });
      expect(sent).toMatchObject({ text: one.text, refusal: one.refusal, toolCalls: one.toolCalls });
      expect(sent.finishReason).toBe(one.finishReason);
      expect(sent.failure).toBe(one.finishReason === null ? streamCode(one.failure) : null);
      const saysNothing = one.text === "" && one.refusal === "" && one.toolCalls.length === 0;
      // A stream without a finish reason was interrupted, whether the recording has a failure or just ends.
      note(response, one.failure === null && one.finishReason !== null ? costOf(one.usage, { saysNothing }) : null);
      expectTold(sent, one);
    },
  );

  async function complete(fields: Record<string, unknown> = {}): Promise<Response> {
    const key = customer.keys[0]?.key ?? "";
    return completion({ url: on.fleet.url(), key, body: { model: modelOf(format), max_tokens: 1_000, ...fields } });
  }

  // One mode is enough for completions and errors: official-package.test.ts and retries.test.ts have both.
  const completed = isFleet ? [] : oneOfEachKind(whole, kindOfAnswer).filter(({ failure }) => failure === null);
  test.each(completed.map((one) => [one.name, one] as const))(
    "the gateway's completion for a complete answer: %s",
    async (_, { answer, expected }: WholeCase) => {
      stub.answerOnce(answer);
      const response = await complete();
      note(response, costOf(expected?.usage ?? null, { saysNothing: !expected?.content && !expected?.toolCalls }));
      const [choice] = officialTextCompletion(conforming(TextCompletion, await response.json())).choices;
      expect(choice?.text).toBe((expected?.content ?? "") + (expected?.refusal ?? ""));
      expect<unknown>(choice?.finish_reason).toBe(textReason(expected?.finishReason ?? null, expected?.refusal ?? ""));
    },
  );

  const completedStreams = isFleet ? [] : oneOfEachKind(streams, kindOfStream);
  test.each(completedStreams.map((one) => [one.name, one] as const))(
    "the gateway's streamed completion for a stream: %s",
    async (_, one: StreamCase) => {
      stub.answerOnce(one.answer);
      const response = await complete({ stream: true, ...(includeUsage && { stream_options: { include_usage: true } }) });
      if (response.status !== 200) return void (await expectError(response, present(one.failure)));
      const sent = readSentText(await response.text(), { includeUsage });
      expect(sent.text).toBe(one.text + one.refusal);
      expect(sent.finishReason).toBe(textReason(one.finishReason, one.refusal));
      expect(sent.failure).toBe(one.finishReason === null ? streamCode(one.failure) : null);
      const saysNothing = one.text === "" && one.refusal === "" && one.toolCalls.length === 0;
      note(response, one.failure === null && one.finishReason !== null ? costOf(one.usage, { saysNothing }) : null);
    },
  );

  const refusals = isFleet ? [] : oneOfEachKind(errors, ({ code, hint }) => `${code} ${hint}`);
  test.each(refusals.map((one) => [one.name, one] as const))(
    "the gateway's error for a provider's error: %s",
    async (_, { answer, code, hint }) => {
      stub.answerOnce(answer);
      expect(await expectError(await ask(), code)).toContain(hint ?? "");
    },
  );

  test("all of these answers are settled, and each costs what its tokens cost", async () => {
    const rows = await expectExactLedger(on.fleet.operator(), customer, { credit, generations: costs.size });
    for (const row of rows) {
      const cost = costs.get(row.generation_id);
      expect(row.usage_estimated).toBe(cost === null);
      const reserved = parseUsd(row.reserved_usd);
      // Some recordings count more than the requests here can cost.
      const counted = cost ?? -1n;
      if (cost !== null) expect(parseUsd(row.cost_usd)).toBe(counted > reserved ? reserved : counted);
    }
  }, 30_000);
}

function sandbox(mode: (typeof modes)[number]): void {
  const look_up = {
    type: "function",
    function: { name: "look_up", parameters: { properties: { word: { type: "string" } }, required: ["word"] } },
  };
  const requests: [string, Record<string, unknown>, Partial<SentStream>][] = [
    ["text", {}, { text: "Hello", finishReason: "stop" }],
    ["text cut at max_tokens", { max_tokens: 1 }, { text: "Hell", finishReason: "length" }],
    ["a call of the required tool", { tools: [look_up], tool_choice: "required" }, { text: "", finishReason: "tool_calls" }],
  ];

  test.each(requests)(
    "the sandbox answers with %s, streamed or not",
    async (_, fields, expected) => {
      const on = await stage(mode);
      const { keys } = await on.fleet.operator().customer({ credit });
      const ask = (more: Record<string, unknown>) =>
        chat({ url: on.fleet.url(), key: keys[0]?.key ?? "", body: { model: "sandbox/echo", ...fields, ...more } });
      const whole = officialCompletion(conforming(Completion, await (await ask({})).json()));
      const [choice] = whole.choices;
      const streamed = await ask({ stream: true, stream_options: { include_usage: true } });
      const sent = readSentStream(await streamed.text(), { includeUsage: true });
      expect(sent).toMatchObject(expected);
      expect<unknown>(choice?.finish_reason).toBe(sent.finishReason);
      expect(choice?.message.content ?? "").toBe(sent.text);
      expect(choice?.message.tool_calls?.map(({ id }) => id)).toEqual(
        sent.toolCalls.length > 0 ? sent.toolCalls.map(({ id }) => id) : undefined,
      );
      expect<unknown>(whole.usage).toEqual(sent.usage);
    },
    90_000,
  );
}

/** Computes the cost at the stub's prices: 1,000 nano-USD for an input token, cached or not, 2,000 for an output token; null: a count is missing. */
function costOf(usage: ReportedUsage | null, { saysNothing }: { saysNothing: boolean }): bigint | null {
  const { promptTokens = null, completionTokens = null } = usage ?? {};
  if (promptTokens === null || (completionTokens === null && !saysNothing)) return null;
  return BigInt(promptTokens) * 1_000n + BigInt(completionTokens ?? 0) * 2_000n;
}

/** A completion calls no tools, and a refusal is content_filter. */
function textReason(reason: string | null, refusal: string) {
  if (reason === null) return null;
  if (refusal !== "") return "content_filter";
  return reason === "length" || reason === "content_filter" ? reason : "stop";
}

/** In a stream, only a timeout has its own code. */
function streamCode(failure: ErrorCode | null): ErrorCode {
  return failure === "upstream_timeout" ? failure : "upstream_error";
}

/** The usage chunk shows the charged counts, which are the provider's where it sent them. */
function expectTold({ usage }: SentStream, told: StreamCase): void {
  if (usage === null) return;
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  if (told.usage === null || told.failure !== null) return;
  const { promptTokens, completionTokens } = told.usage;
  if (promptTokens === null || completionTokens === null) return;
  expect(usage).toEqual({
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: told.usage.cachedTokens, cache_write_tokens: told.usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: told.usage.reasoningTokens },
  });
}

function present<Value>(value: Value | null): Value {
  if (value === null) throw new Error("No failure was recorded");
  return value;
}
