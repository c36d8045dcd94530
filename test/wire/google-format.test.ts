/** The official client's tool runner gives a model in Google's format its signature back. Answers and errors: conformance.test.ts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { Fleet } from "../support/servers/fleet.ts";
import { googleChat, googleModel } from "../support/providers/google-answers.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const stack = new AsyncDisposableStack();
let provider: ProviderStub;
let client: OpenAI;

beforeAll(async () => {
  provider = stack.use(await startProviderStub(googleChat("Hello there")));
  const folder = stack.use(await temporaryFolder());
  const supports = ["tools", "json_schema", "reasoning", "seed", "penalties", "thought_signatures"];
  const catalogDir = await writeStubCatalog(folder.path, {
    url: provider.url,
    provider: { format: "google" },
    model: { upstream_model: googleModel, supports },
  });
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "AIza-ours" } }));
  await fleet.runnable("stub/model");
  const { keys } = await fleet.operator().customer({ credit: "10" });
  client = new OpenAI({ apiKey: keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
}, 60_000);
afterAll(() => stack.disposeAsync());

const model = "stub/model";
const calling = { functionCall: { name: "look_up", args: { word: "weir" } }, thoughtSignature: "c2lnbmVk" };
const described = {
  name: "look_up",
  description: "Looks a word up",
  parameters: { type: "object", properties: { word: { type: "string" } } },
};

test.each([false, true])(
  "the client's tool runner sends a tool's result back, with the model's signature (streamed: %p)",
  async (stream) => {
    const before = provider.calls.length;
    provider.answerOnce(googleChat([calling]), googleChat("It is a low dam."));
    const words: object[] = [];
    const look = (word: object): string => {
      words.push(word);
      return "a low dam";
    };
    const parse = (text: string): object => JSON.parse(text);
    const tool: RunnableToolFunctionWithParse<object> = { type: "function", function: { ...described, parse, function: look } };
    const request = { model, messages: [{ role: "user" as const, content: "What is a weir?" }], tools: [tool] };
    const { completions } = client.chat;
    const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request);
    expect(await runner.finalContent()).toBe("It is a low dam.");
    expect(words).toEqual([{ word: "weir" }]);
    expect(provider.calls).toHaveLength(before + 2);
    const id = "call_R3sp0nse_0";
    expect<unknown>(provider.calls.at(-1)?.body["contents"]).toEqual([
      { role: "user", parts: [{ text: "What is a weir?" }] },
      { role: "model", parts: [{ ...calling, functionCall: { id, ...calling.functionCall } }] },
      { role: "user", parts: [{ functionResponse: { id, name: "look_up", response: { output: "a low dam" } } }] },
    ]);
  },
);
