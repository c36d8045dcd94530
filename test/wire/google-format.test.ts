/** The official client's tool runner gives a model in Google's format its signature back. Answers and errors: conformance.test.ts. */
import { beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { googleChat } from "../support/providers/google-answers.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { formatsStage } from "./formats-stage.ts";

let provider: ProviderStub;
let client: OpenAI;

beforeAll(async () => {
  const { fleet, stub } = await formatsStage();
  provider = stub("google");
  const { keys } = await fleet.operator().customer({ credit: "10" });
  client = new OpenAI({ apiKey: keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
}, 60_000);

const model = "google/model";
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
