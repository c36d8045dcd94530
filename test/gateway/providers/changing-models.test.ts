/** A conversation that goes from provider to provider, each of which refuses what the real one refuses, never gets a 400. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import { chat } from "../../support/gateway/requests.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { stubKeyEnv, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { json } from "../../support/providers/stub-answers.ts";
import {
  messagesIn,
  strictProviders,
  thought,
  type AnswerKind,
  type StrictProvider,
} from "../../support/providers/strict-providers.ts";
import type { Message } from "../../support/providers/strict-messages.ts";
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

function strict(stub: ProviderStub, mock: StrictProvider): void {
  stub.answer((response, call) => {
    const refused = mock.refuses(messagesIn(call.body));
    if (refused === null) return mock.answer(kind)(response, call);
    refusals.push(`${mock.provider}: ${refused}`);
    return json({ error: { message: refused, type: "invalid_request_error" } }, 400)(response, call);
  });
}

beforeAll(async () => {
  const providers: ProviderEntry[] = [];
  const models: Record<string, ModelEntry[]> = {};
  for (const mock of strictProviders) {
    const stub = stack.use(await startProviderStub());
    strict(stub, mock);
    stubs.set(mock.provider, stub);
    providers.push(providerAt(mock, stub.url));
    models[mock.provider] = [modelOf(mock)];
  }
  const catalogDir = await writeCatalog(await temporaryFolder("catalog"), { providers, models });
  fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
  key = (await fleet.operator().customer({ credit: "100" })).keys[0]?.key ?? "";
  for (const { model } of strictProviders) {
    const messages = [{ role: "user", content: "Hello" }];
    await until(async () => (await chat({ url: fleet.url(), key, body: { model, messages, max_tokens: 16 } })).status === 200);
  }
}, 120_000);
afterAll(() => stack.disposeAsync(), 30_000);

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

/** The answer as an official package has it. */
async function ask(model: string, messages: Message[], stream: boolean): Promise<Message> {
  const response = await chat({ url: fleet.url(), key, body: { model, messages, tools, max_tokens: 200, stream } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${model}: ${response.status} ${text} ${refusals.at(-1) ?? ""}`);
  return stream ? assembled(text) : (JSON.parse(text) as { choices: [{ message: Message }] }).choices[0].message;
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

/** Every provider twice: once it calls two tools, once it answers, and between the rounds its reasoning uses up the tokens. */
const kinds: AnswerKind[] = ["calls", "text"];
const rounds = [0, 1].flatMap((round) => [
  ...strictProviders.map((mock, n) => ({ mock, kind: kinds[(n + round) % 2] ?? "text" })),
  ...strictProviders.filter((_, n) => n % 3 === round).map((mock) => ({ mock, kind: "thought" as const })),
]);

describe("a conversation that changes its provider at every turn", () => {
  test.each([false, true])(
    "gets an answer from each, keeps its ids, and its reasoning comes back; streamed: %p",
    async (stream) => {
      refusals.length = 0;
      const messages: Message[] = [
        { role: "developer", content: [{ type: "text", text: "Be brief." }], name: "rules" },
        { role: "user", content: "How is the weather in Paris and Oslo?", name: "ann" },
      ];
      for (const [turn, { mock, kind: wanted }] of rounds.entries()) {
        kind = wanted;
        const answer = await ask(mock.model, messages, stream);
        expect([mock.provider, turn, answer["tool_calls"] !== undefined]).toEqual([mock.provider, turn, wanted === "calls"]);
        messages.push(answer, ...resultsOf(answer));
        if (wanted !== "calls" || turn % 4 === 0) messages.push({ role: "user", content: `And now? ${turn}` });
        if (turn === 3) messages.push({ role: "system", content: "Be kind.", name: "rules" });
        if (turn === 7)
          messages.push({ role: "assistant", content: null, refusal: "No.", name: "host" }, { role: "user", content: "Please." });
      }
      expect(refusals).toEqual([]);
      expect(JSON.stringify(messages)).toContain('"tool_call_id":"chatcmpl-tool-');
      for (const provider of ["moonshot", "groq", "mistral"]) {
        expect(JSON.stringify(stubs.get(provider)?.calls.at(-1)?.body)).toContain(thought);
      }
      expect(messages.length).toBeGreaterThan(2 * rounds.length);
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
    for (const { model } of strictProviders) await ask(model, [...loop, ...added], false);
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

test.each(strictProviders.map(({ provider, refuses }) => [provider, refuses] as const))(
  "the mock of %s refuses a conversation as its client has it",
  (_, refuses) => {
    expect(refuses(asTheClientHasIt)).toBeString();
  },
);
