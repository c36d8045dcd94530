/** Messages at a provider that speaks the API itself: what it counts, how its answers end, and a whole session to the nano-dollar. */
import { beforeAll, describe, expect, test } from "bun:test";
import { parseUsd } from "../../../src/kernel/money.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import { blockEvents, blockMessage, event, message } from "../../support/providers/anthropic-answers.ts";
import { strictClaude } from "../../support/providers/strict-claude.ts";
import { rawStream } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { formatsStage, type FormatsStage } from "../formats-stage.ts";
import { agentRequest, namedEvents, send, type Turn } from "./session.ts";
import { streamedBlocks, type Json } from "./thinkers.ts";

let stage: FormatsStage;
let fleet: Fleet;
let customer: Customer;
const model = "claude/agent";
/** Long enough for the tokens that the provider counts. */
const prompt = "Hello ".repeat(200);

beforeAll(async () => {
  stage = await formatsStage();
  ({ fleet } = stage);
  customer = await fleet.operator().customer({ credit: "10" });
}, 60_000);

const ask = (body: Json, made = customer): Promise<Response> =>
  send(fleet, made.keys[0]?.key ?? "", { model, max_tokens: 1_000, messages: [{ role: "user", content: prompt }], ...body });
const calls = () => stage.stub("claude").calls;

/** By USD per million tokens: input, output, read from the cache, written to it. */
const nanoPrices = { input: 3_000n, output: 15_000n, read: 300n, write: 3_750n };
interface Counts {
  input: number;
  output: number;
  read: number;
  write: number;
}
const costOf = ({ input, output, read, write }: Counts): bigint =>
  BigInt(input) * nanoPrices.input +
  BigInt(output) * nanoPrices.output +
  BigInt(read) * nanoPrices.read +
  BigInt(write) * nanoPrices.write;

describe("the provider's counts", () => {
  const counts: Counts = { input: 25, output: 7, read: 75, write: 400 };
  const reported = { input_tokens: 25, cache_read_input_tokens: 75, cache_creation_input_tokens: 400 };
  const split = { ...reported, cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 0 } };

  /** A stream that reports the prompt at its start, and once more in its last delta. */
  function twice(): ReturnType<typeof rawStream> {
    const events = blockEvents([{ type: "text", text: "Hi" }], { stop_reason: "end_turn" });
    const told = events.map((one) => {
      if (one["type"] === "message_start")
        return { ...one, message: { ...(one["message"] as Json), usage: { ...split, output_tokens: 1 } } };
      return one["type"] === "message_delta" ? { ...one, usage: { ...reported, output_tokens: 7 } } : one;
    });
    return rawStream(...told.map(event));
  }

  test.each([
    ["whole", false, message("Hi", { usage: { ...split, output_tokens: 7 } })],
    ["streamed, in its start and its last delta", true, twice()],
  ] as const)("count once, each by its price: %s", async (_, stream, answer) => {
    const made = await fleet.operator().customer({ credit: "10" });
    stage.stub("claude").answerOnce(answer);
    const response = await ask({ stream }, made);
    const { usage } = stream
      ? (namedEvents(await response.text()).at(-2) as { usage: Json })
      : ((await response.json()) as { usage: Json });
    expect(usage).toMatchObject({ ...reported, output_tokens: 7 });
    await expectExactLedger(fleet.operator(), made, { credit: "10", generations: 1, costNano: costOf(counts) });
  });
});

test.each([
  [
    { stop_reason: "stop_sequence", stop_sequence: "END" },
    { stop_reason: "stop_sequence", stop_sequence: "END" },
  ],
  [{ stop_reason: "pause_turn" }, { stop_reason: "pause_turn", stop_sequence: null }],
  [{ stop_reason: "model_context_window_exceeded" }, { stop_reason: "model_context_window_exceeded" }],
  [{ stop_reason: "refusal" }, { stop_reason: "refusal" }],
  [{ stop_reason: "a_word_of_tomorrow" }, { stop_reason: "end_turn" }],
])("an answer ends in the API's own words: %j", async (stop, expected) => {
  const answer = blockMessage([{ type: "text", text: "Hi" }], stop);
  stage.stub("claude").answerOnce(answer, answer);
  expect(await (await ask({ stop_sequences: ["END"] })).json()).toMatchObject(expected);
  expect(namedEvents(await (await ask({ stream: true })).text()).at(-2)).toMatchObject({ delta: expected });
});

test("an agent's request reaches the provider with its own headers, and no hint is left out", async () => {
  const response = await send(fleet, customer.keys[0]?.key ?? "", agentRequest(model, [], { max_tokens: 900, stream: false }));
  expect([response.status, response.headers.get("x-ignored-fields")]).toEqual([200, null]);
  const { headers, body } = calls().at(-1) as { headers: Record<string, string>; body: Json };
  expect(headers["anthropic-beta"]).toBe("context-management-2025-06-27,advanced-tool-use-2025-11-20");
  expect(headers["anthropic-version"]).toBe("2023-06-01");
  expect(JSON.stringify(headers)).not.toMatch(/a-beta-of-tomorrow|claude-cli|x-app/);
  expect(body).toMatchObject({
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "medium" },
    max_tokens: 900,
  });
  expect(Object.keys(body)).not.toContain("metadata");
});

test("a session of fifty turns has one reservation a request, and costs what the provider counts", async () => {
  const made = await fleet.operator().customer({ credit: "10" });
  const operator = fleet.operator();
  const before = calls().length;
  const turns: Turn[] = [];
  let cost = 0n;
  for (let index = 0; index < 50; index++) {
    const counts: Counts = { input: 3 + index, output: 11 + index, read: 100 * index, write: 20 + index };
    cost += costOf(counts);
    const usage = {
      input_tokens: counts.input,
      cache_read_input_tokens: counts.read,
      cache_creation_input_tokens: counts.write,
      output_tokens: counts.output,
    };
    const signed = {
      type: "thinking" as const,
      thinking: `Turn ${index}.`,
      signature: Buffer.from(`turn ${index}`).toString("base64"),
    };
    const called = { id: `toolu_${index}`, name: "Bash", input: { command: "ls" } };
    const good = message("On it.", { thoughts: [signed], calls: [called], usage });
    stage.stub("claude").answerOnce(strictClaude(good, "claude-opus-4-8"));
    const response = await send(fleet, made.keys[0]?.key ?? "", agentRequest(model, turns, { max_tokens: 900 }));
    const answer = streamedBlocks(namedEvents(await response.text()));
    expect(answer.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
    turns.push({ answer, next: [{ type: "tool_result", tool_use_id: `toolu_${index}`, content: "a.ts" }] });
  }
  expect(calls().length - before).toBe(50);
  const sentBack = [...JSON.stringify(calls().at(-1)?.body["messages"]).matchAll(/"signature":"([^"]+)"/g)].map(([, one]) => one);
  expect(sentBack).toEqual(turns.slice(0, -1).map((_, index) => Buffer.from(`turn ${index}`).toString("base64")));
  const rows = await expectExactLedger(operator, made, { credit: "10", generations: 50, costNano: cost });
  for (const { reserved_usd, cost_usd } of rows) expect(parseUsd(reserved_usd)).toBeGreaterThan(parseUsd(cost_usd));
});
