/** A provider that refuses the thoughts of a conversation is asked once more without them, at the price of one answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import { message, refusal as claudeRefusal, type Thought } from "../support/providers/anthropic-answers.ts";
import { googleChat, googleError, googleModel, googleUsage } from "../support/providers/google-answers.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { refusal as responsesRefusal, response } from "../support/providers/responses-answers.ts";
import { strictClaude, unlessEmptied } from "../support/providers/strict-claude.ts";
import type { StubAnswer } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { thrownBy } from "./thrown-by.ts";

const stack = new AsyncDisposableStack();
const credit = "10";
/** The price of an answer: 10 tokens at 3.00 and 5 at 15.00 USD per 1M. */
const cost = 105_000n;
let fleet: Fleet;
let customer: Customer;
let client: OpenAI;
const stubs = new Map<string, ProviderStub>();

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
  provider: string;
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
  provider: "claude",
  thinking: strictClaude(message("", { thoughts, calls: [{ id: "toolu_a", name, input: {} }] })),
  answering: strictClaude(unlessEmptied(message(answer))),
  refusing: claudeRefusal(400, "invalid_request_error", "messages.1: The final block cannot be `thinking`."),
  thought: '"type":"thinking"',
};
const unreadable = responsesRefusal(400, { type: "invalid_request_error", code: "invalid_encrypted_content" });
const invalid = googleError(400, "INVALID_ARGUMENT", "Thought signature is not valid.");
const kinds: Kind[] = [
  { ...claude, model: "stub/adaptive" },
  { ...claude, model: "stub/budget" },
  {
    provider: "responses",
    model: "stub/responses",
    thinking: response("", { calls: [{ call_id: "call_1", name, arguments: "{}" }], encrypted: secret }),
    answering: unlessHas(secret, unreadable, response(answer)),
    refusing: unreadable,
    thought: secret,
  },
  {
    provider: "google",
    model: "stub/google",
    thinking: googleChat([{ functionCall: { name, args: {} }, thoughtSignature: "c2lnbmVk" }], { usage }),
    answering: unlessHas("c2lnbmVk", invalid, googleChat(answer, { usage })),
    refusing: invalid,
    thought: "c2lnbmVk",
  },
];

beforeAll(async () => {
  const formats = { claude: "anthropic", responses: "openai-responses", google: "google" } as const;
  const answers = { claude: message("Hi"), responses: response("Hi"), google: googleChat("Hi") };
  for (const id of ["claude", "responses", "google"] as const) stubs.set(id, stack.use(await startProviderStub(answers[id])));
  const model = {
    supports: ["tools", "reasoning", "reasoning_content", "thought_signatures"],
    reasons: true,
    prices_per_1m_usd: { input: "3.00", output: "15.00" },
    max_output_tokens: 4_000,
  };
  const catalogDir = await writeCatalog(join(stack.use(await temporaryFolder()).path, "catalog"), {
    providers: Object.entries(formats).map(([id, format]) => stubProvider({ id, format, base_url: stubOf(id).url })),
    models: {
      claude: [
        stubModel({ ...model, id: "stub/adaptive", upstream_model: "claude-opus-5", thinking: "adaptive" }),
        stubModel({ ...model, id: "stub/budget", upstream_model: "claude-haiku-4-5", thinking: "budget" }),
      ],
      responses: [stubModel({ ...model, id: "stub/responses", upstream_model: "gpt-5.6-sol" })],
      google: [stubModel({ ...model, id: "stub/google", upstream_model: googleModel })],
    },
  });
  fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-ours" } }));
  for (const kind of kinds) await fleet.runnable(kind.model);
}, 60_000);
beforeEach(async () => {
  customer = await fleet.operator().customer({ credit });
  client = new OpenAI({ apiKey: customer.keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
});
afterAll(() => stack.disposeAsync(), 30_000);

function stubOf(provider: string): ProviderStub {
  const stub = stubs.get(provider);
  if (!stub) throw new Error(`There is no stub of ${provider}`);
  return stub;
}

/** The second request of a tool loop, from a client that keeps nothing but the calls. */
async function afterTheCall({ provider, model, thinking }: Kind) {
  const request = {
    model,
    messages: [{ role: "user" as const, content: "Weather in Oslo?" }],
    tools: [{ type: "function" as const, function: { name } }],
    reasoning_effort: "low" as const,
  };
  stubOf(provider).answerOnce(thinking);
  const [called] = (await client.chat.completions.create(request)).choices[0]?.message.tool_calls ?? [];
  if (!called) throw new Error("There is no call");
  const calling = { role: "assistant" as const, content: null, tool_calls: [called] };
  const result = { role: "tool" as const, tool_call_id: called.id, content: "rain" };
  return { ...request, messages: [...request.messages, calling, result] };
}

describe.each(kinds.map((kind) => [kind.model, kind] as const))("a provider that refuses the thoughts of %s", (_, kind) => {
  const stub = () => stubOf(kind.provider);
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
