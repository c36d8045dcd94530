/** A conversation that goes from model to model, each of which refuses what the real one refuses, never gets a 400. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reasoningEfforts } from "../../../src/gateway/models/model.ts";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { chat } from "../../support/gateway/requests.ts";
import { startProviderStub, type ProviderStub, type StubCall } from "../../support/providers/provider-stub.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { stubKeyEnv, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { json } from "../../support/providers/stub-answers.ts";
import type { Message } from "../../support/providers/strict-messages.ts";
import { thought, type AnswerKind, type StrictProvider } from "../../support/providers/strict-mocks.ts";
import { strictProviders } from "../../support/providers/strict-providers.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";

const stack = new AsyncDisposableStack();
let fleet: Fleet;
let key: string;
/** How the next answer is. */
let kind: AnswerKind = "text";
const refusals: string[] = [];
const stubs = new Map<string, ProviderStub>();
/** By model: its name at its provider. */
const upstreamNames = new Map<string, string>();

function read<Entry>(file: string): Entry[] {
  return JSON.parse(readFileSync(join(wholeCatalog, file), "utf8")) as Entry[];
}

/** The catalog's own entry of the provider, with its dialect, at the mock's address. */
function providerAt({ provider }: StrictProvider, url: string): ProviderEntry {
  const entry = read<ProviderEntry>("providers.json").find(({ id }) => id === provider);
  if (!entry) throw new Error(`The catalog has no provider ${provider}`);
  return { ...entry, base_url: url, key_env: stubKeyEnv, terms_checked: true, subprocessor_listed: true };
}

/** The catalog's own entry of the model, with its route to this provider alone. */
function modelOf({ provider, model }: StrictProvider): ModelEntry {
  const entries = [provider, "open-weights"].flatMap((file) => {
    try {
      return read<ModelEntry>(`models/${file}.json`);
    } catch {
      return [];
    }
  });
  const entry = entries.find(({ id }) => id === model);
  if (!entry) throw new Error(`The catalog has no model ${model}`);
  return entry.routes ? { ...entry, routes: entry.routes.filter((route) => route.provider === provider) } : entry;
}

/** The name of the called model at its provider: Google has it in the path. */
function calledModel({ path, body }: StubCall): string {
  return String(body["model"] ?? /models\/([^:]+):/.exec(path)?.[1]);
}

/** Answers as the mock of the called model. */
function strict(stub: ProviderStub, mocks: ReadonlyMap<string, StrictProvider>): void {
  stub.answer((response, call) => {
    const mock = mocks.get(calledModel(call));
    const refused = mock?.path.test(call.path) ? mock.refuses(call.body) : `There is no ${call.path}`;
    if (mock && refused === null) return mock.answer(kind)(response, call);
    refusals.push(`${calledModel(call)}: ${refused}`);
    return json({ error: { message: refused, type: "invalid_request_error" } }, 400)(response, call);
  });
}

beforeAll(async () => {
  const providers: ProviderEntry[] = [];
  const models: Record<string, ModelEntry[]> = {};
  for (const [provider, mocks] of Map.groupBy(strictProviders, (mock) => mock.provider)) {
    const stub = stack.use(await startProviderStub());
    const entries = mocks.map(modelOf);
    for (const entry of entries) upstreamNames.set(entry.id, entry.routes?.[0]?.upstream_model ?? entry.upstream_model ?? "");
    strict(stub, new Map(mocks.map((mock) => [upstreamNames.get(mock.model) ?? "", mock])));
    stubs.set(provider, stub);
    providers.push(...mocks.slice(0, 1).map((mock) => providerAt(mock, stub.url)));
    models[provider] = entries;
  }
  const catalogDir = await writeCatalog(await temporaryFolder("catalog"), { providers, models });
  fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
  key = (await fleet.operator().customer({ credit: "1000" })).keys[0]?.key ?? "";
  for (const { model } of strictProviders) {
    const messages = [{ role: "user", content: "Hello" }];
    await until(async () => (await chat({ url: fleet.url(), key, body: { model, messages, max_tokens: 16 } })).status === 200);
  }
}, 120_000);
afterAll(() => stack.disposeAsync(), 30_000);

/** The last call of the model. */
function lastCall({ provider, model }: StrictProvider): Message {
  const name = upstreamNames.get(model);
  return stubs.get(provider)?.calls.findLast((call) => calledModel(call) === name)?.body ?? {};
}

const tools = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "The weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];

interface Question {
  messages: Message[];
  stream?: boolean;
  reasoning_effort?: string;
  temperature?: number;
}

/** The answer as an official package has it. */
async function ask(model: string, question: Question): Promise<Message> {
  const response = await chat({ url: fleet.url(), key, body: { model, tools, max_tokens: 200, ...question } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${model}: ${response.status} ${text} ${refusals.at(-1) ?? ""}`);
  return question.stream ? assembled(text) : (JSON.parse(text) as { choices: [{ message: Message }] }).choices[0].message;
}

function assembled(events: string): Message {
  const message: Message = { role: "assistant", content: null };
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  const chunks = events.split("\n\n").filter((event) => event.startsWith("data: {"));
  for (const event of chunks) {
    const [choice] = (JSON.parse(event.slice("data: ".length)) as { choices: { delta: Message }[] }).choices;
    for (const [field, piece] of Object.entries(choice?.delta ?? {})) {
      if (typeof piece === "string" && field !== "role") message[field] = `${(message[field] as string | null) ?? ""}${piece}`;
    }
    for (const piece of (choice?.delta["tool_calls"] ?? []) as ({ index: number } & (typeof calls)[number])[]) {
      const { index, ...call } = piece;
      const known = calls[index];
      if (known) known.function.arguments += call.function.arguments;
      else calls[index] = call;
    }
  }
  return calls.length > 0 ? { ...message, tool_calls: calls } : message;
}

function resultsOf({ tool_calls }: Message): Message[] {
  const calls = (tool_calls ?? []) as { id: string }[];
  return calls.map(({ id }, n) => ({
    role: "tool",
    tool_call_id: id,
    content:
      n === 0
        ? "rain"
        : [
            { type: "text", text: "rain" },
            { type: "text", text: "" },
          ],
  }));
}

interface Turn {
  mock: StrictProvider;
  kind: AnswerKind;
}

/** Every model twice: once it calls two tools, once it answers, and between the rounds its reasoning uses up the tokens. */
const kinds: AnswerKind[] = ["calls", "text"];
const rounds: Turn[] = [0, 1].flatMap((round) => [
  ...strictProviders.map((mock, n) => ({ mock, kind: kinds[(n + round) % 2] ?? "text" })),
  ...strictProviders.filter((_, n) => n % 3 === round).map((mock) => ({ mock, kind: "thought" as const })),
]);

/** Around every other model one of the Responses API: each goes on where the other called tools, and where it thought. */
const isOfResponses = ({ path }: StrictProvider): boolean => path.test("/v1/responses");
const ofResponses = strictProviders.filter(isOfResponses);
const loops: Turn[] = strictProviders
  .filter((mock) => !isOfResponses(mock))
  .flatMap((mock, n): Turn[] => {
    const [before = mock, after = mock] = n % 2 === 0 ? ofResponses : ofResponses.toReversed();
    return [
      { mock: before, kind: "calls" },
      { mock, kind: "calls" },
      { mock: after, kind: n % 3 === 0 ? "thought" : "text" },
      { mock, kind: n % 3 === 1 ? "thought" : "text" },
    ];
  });

/** What the provider of the turn gets as an effort, in the words of chat completions. */
function effortIn(body: Message): unknown {
  const inner = (field: string): Message => (body[field] ?? {}) as Message;
  const { thinkingLevel } = (inner("generationConfig")["thinkingConfig"] ?? {}) as { thinkingLevel?: string };
  return (
    body["reasoning_effort"] ?? inner("reasoning")["effort"] ?? inner("output_config")["effort"] ?? thinkingLevel?.toLowerCase()
  );
}

/** Asks turn by turn, with the effort where the model takes one, and with a temperature for some of the models that take one. */
async function converse(turns: readonly Turn[], { stream, effort }: { stream: boolean; effort?: string }): Promise<Message[]> {
  refusals.length = 0;
  const messages: Message[] = [
    { role: "developer", content: [{ type: "text", text: "Be brief." }], name: "rules" },
    { role: "user", content: "How is the weather in Paris and Oslo?", name: "ann" },
  ];
  for (const [turn, { mock, kind: wanted }] of turns.entries()) {
    kind = wanted;
    const thinks = effort !== undefined && mock.efforts.length > 0;
    const options = { ...(thinks && { reasoning_effort: effort }), ...(mock.samples && turn % 3 === 0 && { temperature: 0.7 }) };
    const answer = await ask(mock.model, { messages, stream, ...options });
    expect([mock.model, turn, answer["tool_calls"] !== undefined]).toEqual([mock.model, turn, wanted === "calls"]);
    if (thinks && mock.efforts.includes(String(effort)))
      expect([mock.model, effortIn(lastCall(mock))]).toEqual([mock.model, effort]);
    messages.push(answer, ...resultsOf(answer));
    if (wanted !== "calls" || turn % 5 === 0) messages.push({ role: "user", content: `And now? ${turn}` });
    if (turn === 3) messages.push({ role: "system", content: "Be kind.", name: "rules" });
    if (turn === 7)
      messages.push({ role: "assistant", content: null, refusal: "No.", name: "host" }, { role: "user", content: "Please." });
  }
  expect(refusals).toEqual([]);
  return messages;
}

describe("a conversation that changes its model at every turn", () => {
  test.each([false, true])(
    "gets an answer from each, keeps its ids, and its reasoning comes back; streamed: %p",
    async (stream) => {
      const messages = await converse(rounds, { stream });
      expect(JSON.stringify(messages)).toContain('"tool_call_id":"chatcmpl-tool-');
      for (const provider of ["moonshot", "groq", "mistral"]) {
        expect(JSON.stringify(stubs.get(provider)?.calls.at(-1)?.body)).toContain(thought);
      }
      expect(messages.length).toBeGreaterThan(2 * rounds.length);
    },
    60_000,
  );

  test.each(reasoningEfforts.map((effort, n) => ({ effort, stream: n % 2 === 0 })))(
    "gets an answer from each with the effort $effort, and each model of the Responses API all of its own reasoning",
    async (plan) => {
      await converse(loops, plan);
      for (const mock of ofResponses) {
        const called = loops
          .slice(
            0,
            loops.findLastIndex((turn) => turn.mock === mock),
          )
          .filter((turn) => turn.mock === mock);
        const reasoning = (lastCall(mock)["input"] as Message[]).filter(({ type }) => type === "reasoning");
        expect(reasoning).toHaveLength(called.filter((turn) => turn.kind === "calls").length);
        expect(reasoning.length).toBeGreaterThan(3);
      }
    },
    60_000,
  );
});

describe("a conversation to which a framework has added", () => {
  const system = { role: "system", content: "Two steps are left." };
  const answered = { role: "assistant", content: "It rains in" };
  test.each<[string, Message[]]>([
    ["an instruction behind a tool's result", [system]],
    ["an instruction behind the model's words", [answered, system]],
    ["an instruction between the model's words and the user's", [answered, system, { role: "user", content: "Go on." }]],
    ["the beginning of the answer", [answered]],
  ])("%s gets an answer from each", async (_, added) => {
    refusals.length = 0;
    kind = "text";
    const call = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };
    const loop: Message[] = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "rain" },
    ];
    for (const { model } of strictProviders) await ask(model, { messages: [...loop, ...added] });
    expect(refusals).toEqual([]);
  });
});

/** Otherwise the test above could not fail. */
const asTheClientHasIt: Message[] = [
  { role: "developer", content: [{ type: "text", text: "Be brief." }], name: "rules" },
  { role: "user", content: "Weather?", name: "ann" },
  {
    role: "assistant",
    reasoning_content: "I ask.",
    tool_calls: [{ id: `chatcmpl-tool-${"0".repeat(32)}`, type: "function", function: { name: "weather", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: `chatcmpl-tool-${"0".repeat(32)}`, content: "rain" },
];

/** The field with the turns of a conversation, and a path of its API. Others have `messages`. */
const turnFields = { input: "/v1/responses", contents: "/models/x:generateContent" };

test.each(strictProviders)("the mock of $model refuses a conversation as its client has it", ({ path, refuses }) => {
  const [field] = Object.entries(turnFields).find(([, called]) => path.test(called)) ?? ["messages"];
  expect(refuses({ [field]: asTheClientHasIt })).toBeString();
});
