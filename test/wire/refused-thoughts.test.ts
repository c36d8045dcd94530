/** A provider that refuses the thoughts of a conversation is asked once more without them, at the price of one answer. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import { message, refusal as claudeRefusal, type Thought } from "../support/providers/anthropic-answers.ts";
import { googleChat, googleError, googleUsage } from "../support/providers/google-answers.ts";
import { refusal as responsesRefusal, response } from "../support/providers/responses-answers.ts";
import { strictClaude, unlessEmptied } from "../support/providers/strict-claude.ts";
import type { StubAnswer } from "../support/providers/stub-answers.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { formatsStage, type FormatProvider, type FormatsStage } from "./formats-stage.ts";
import { thrownBy } from "./thrown-by.ts";

const credit = "10";
/** The price of an answer: 10 tokens at 3.00 and 5 at 15.00 USD per 1M. */
const cost = 105_000n;
let stage: FormatsStage;
let fleet: Fleet;
let customer: Customer;
let client: OpenAI;

const thoughts: Thought[] = [{ type: "thinking", thinking: "I need the weather.", signature: "c2lnbmVkIG9uZQ==" }];
const secret = `${Buffer.from("?>".repeat(200)).toString("base64url")}==`;
const name = "weather";
const usage = googleUsage(10, 5);
const answer = "It rains.";

/** Refuses a call whose body has this. */
function unlessHas(words: string, refused: StubAnswer, good: StubAnswer): StubAnswer {
  return (head, call) => (call.rawBody.includes(words) ? refused : good)(head, call);
}

interface Kind {
  provider: FormatProvider;
  model: string;
  /** Thinks, and calls a tool. */
  thinking: StubAnswer;
  /** Only if it gets no thought that it refuses. */
  answering: StubAnswer;
  refusing: StubAnswer;
  /** What a call with the thought has. */
  thought: string;
}

const claude = {
  provider: "claude" as const,
  thinking: strictClaude(message("", { thoughts, calls: [{ id: "toolu_a", name, input: {} }] })),
  answering: strictClaude(unlessEmptied(message(answer))),
  refusing: claudeRefusal(400, "invalid_request_error", "messages.1: The final block cannot be `thinking`."),
  thought: '"type":"thinking"',
};
const unreadable = responsesRefusal(400, { type: "invalid_request_error", code: "invalid_encrypted_content" });
const invalid = googleError(400, "INVALID_ARGUMENT", "Thought signature is not valid.");
const kinds: Kind[] = [
  { ...claude, model: "thoughts/adaptive" },
  { ...claude, model: "thoughts/budget" },
  {
    provider: "responses",
    model: "thoughts/responses",
    thinking: response("", { calls: [{ call_id: "call_1", name, arguments: "{}" }], encrypted: secret }),
    answering: unlessHas(secret, unreadable, response(answer)),
    refusing: unreadable,
    thought: secret,
  },
  {
    provider: "google",
    model: "thoughts/google",
    thinking: googleChat([{ functionCall: { name, args: {} }, thoughtSignature: "c2lnbmVk" }], { usage }),
    answering: unlessHas("c2lnbmVk", invalid, googleChat(answer, { usage })),
    refusing: invalid,
    thought: "c2lnbmVk",
  },
];

beforeAll(async () => void (stage = await formatsStage()), 60_000);
beforeEach(async () => {
  ({ fleet } = stage);
  customer = await fleet.operator().customer({ credit });
  client = new OpenAI({ apiKey: customer.keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
});

/** The second request of a tool loop, from a client that keeps nothing but the calls. */
async function afterTheCall({ provider, model, thinking }: Kind) {
  const request = {
    model,
    messages: [{ role: "user" as const, content: "Weather in Oslo?" }],
    tools: [{ type: "function" as const, function: { name } }],
    reasoning_effort: "low" as const,
  };
  stage.stub(provider).answerOnce(thinking);
  const [called] = (await client.chat.completions.create(request)).choices[0]?.message.tool_calls ?? [];
  if (!called) throw new Error("There is no call");
  const calling = { role: "assistant" as const, content: null, tool_calls: [called] };
  const result = { role: "tool" as const, tool_call_id: called.id, content: "rain" };
  return { ...request, messages: [...request.messages, calling, result] };
}

describe.each(kinds.map((kind) => [kind.model, kind] as const))("a provider that refuses the thoughts of %s", (_, kind) => {
  const stub = () => stage.stub(kind.provider);
  const haveThought = (before: number) =>
    stub()
      .calls.slice(before)
      .map(({ rawBody }) => rawBody.includes(kind.thought));

  test.each([
    [false, true],
    [true, true],
    [false, false],
    [true, false],
  ])("is asked once more without them, for one charge (streamed: %p, fallbacks: %p)", async (stream, fallbacks) => {
    await fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { fallbacks });
    const request = await afterTheCall(kind);
    const before = stub().calls.length;
    stub().answerOnce(kind.answering, kind.answering);
    const { completions } = client.chat;
    const text = stream
      ? await completions.stream(request).finalContent()
      : (await completions.create(request)).choices[0]?.message.content;
    expect(text).toBe(answer);
    expect(haveThought(before)).toEqual([true, false]);
    await expectExactLedger(fleet.operator(), customer, { credit, generations: 2, costNano: 2n * cost });
  });

  test("is not asked a third time, and its refusals cost nothing", async () => {
    const request = await afterTheCall(kind);
    const before = stub().calls.length;
    stub().answerOnce(kind.refusing, kind.refusing);
    const error = await thrownBy(client.chat.completions.create(request));
    expect(error).toMatchObject({ status: 400, code: "upstream_rejected" });
    expect(haveThought(before)).toEqual([true, false]);
    await expectExactLedger(fleet.operator(), customer, { credit, generations: 2, costNano: cost });
  });

  test("is asked once more with the workspace's own key", async () => {
    const operator = fleet.operator();
    await operator.call("PATCH", `/workspaces/${customer.workspace}`, { early_access: ["own_keys"] });
    const key = "sk-of-the-workspace-0001";
    await operator.call("POST", "/provider-keys", { workspace: customer.workspace, provider: kind.provider, key });
    const request = await afterTheCall(kind);
    const before = stub().calls.length;
    stub().answerOnce(kind.answering, kind.answering);
    expect((await client.chat.completions.create(request)).choices[0]?.message.content).toBe(answer);
    expect(haveThought(before)).toEqual([true, false]);
    for (const { headers } of stub().calls.slice(before)) expect(JSON.stringify(headers)).toContain(key);
    await expectExactLedger(operator, customer, { credit, generations: 2, costNano: 0n });
  });
});
