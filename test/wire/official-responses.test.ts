/** The official package's Responses, with only address and key changed, on a model of each wire format. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import { message } from "../support/providers/anthropic-answers.ts";
import { googleChat } from "../support/providers/google-answers.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { response } from "../support/providers/responses-answers.ts";
import { chat, chunk, completion, json, stream, usageOf, type StubAnswer } from "../support/providers/stub-answers.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { officialWholeResponse, WholeResponse } from "./agents/response-schemas.ts";
import { formatsStage, type FormatProvider } from "./formats-stage.ts";
import { conforming } from "./schemas.ts";
import { thrownBy } from "./thrown-by.ts";

type Input = OpenAI.Responses.ResponseInput;

/** How the stub of each format says a text, and calls a tool with an object. */
const providers: Record<FormatProvider, { says(text: string): StubAnswer; calls(name: string, input: object): StubAnswer }> = {
  claude: {
    says: (text) => message(text),
    calls: (name, input) => message("I look. ", { calls: [{ id: "toolu_a", name, input }] }),
  },
  google: {
    says: (text) => googleChat(text, { usage: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } }),
    calls: (name, args) => googleChat([{ text: "I look. " }, { functionCall: { name, args } }]),
  },
  responses: {
    says: (text) => response(text),
    calls: (name, input) => response("I look. ", { calls: [{ call_id: "call_a", name, arguments: JSON.stringify(input) }] }),
  },
  other: {
    says: (text) => chat(text, { usage: usageOf(10, 5) }),
    calls: (name, input) => calledByChat(name, JSON.stringify(input)),
  },
};
const formats = ["claude", "google", "responses", "other"] as const;

function calledByChat(name: string, text: string): StubAnswer {
  const call = { id: "call_a", type: "function", function: { name, arguments: text } };
  const whole = json({
    ...completion({ role: "assistant", content: "I look. ", tool_calls: [call] }, "tool_calls"),
    usage: usageOf(10, 5),
  });
  const streamed = stream([
    chunk({ role: "assistant", content: "I look. " }),
    chunk({ tool_calls: [{ index: 0, ...call }] }),
    chunk({}, "tool_calls"),
  ]);
  return (answer, asked) => (asked.streamed ? streamed : whole)(answer, asked);
}

const credit = "10";
let fleet: Fleet;
let customer: Customer;
let client: OpenAI;

beforeAll(async () => {
  ({ fleet } = await formatsStage());
}, 60_000);
beforeEach(async () => {
  customer = await fleet.operator().customer({ credit });
  client = new OpenAI({ apiKey: customer.keys[0]?.key ?? "", baseURL: `${fleet.url()}/gpt/v1`, maxRetries: 0 });
});

const weather = {
  type: "function" as const,
  name: "weather",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

for (const format of formats) {
  const model = `${format}/model`;
  describe(`a model behind ${format}`, () => {
    let provider: ProviderStub;
    beforeAll(async () => void (provider = (await formatsStage()).stub(format)));

    test("answers a text, whole and streamed, and both are in the log with their charge", async () => {
      provider.answerOnce(providers[format].says("It rains."), providers[format].says("It rains."));
      const asked = { model, input: "Weather in Oslo?", store: false as const };
      const whole = await client.responses.create(asked);
      expect(whole).toMatchObject({ model, status: "completed", output_text: "It rains.", store: false });
      const sent: unknown = JSON.parse(JSON.stringify({ ...whole, output_text: undefined }));
      expect(whole).toMatchObject(officialWholeResponse(conforming(WholeResponse, sent)));
      const streamed = await client.responses.stream(asked).finalResponse();
      expect(streamed).toMatchObject({ model, status: "completed", output_text: "It rains." });
      for (const { usage } of [whole, streamed]) {
        expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 5, total_tokens: 15 });
      }
      const rows = await expectExactLedger(fleet.operator(), customer, { credit, generations: 2 });
      expect(rows.map(({ endpoint }) => endpoint)).toEqual(["responses", "responses"]);
    });

    test("calls a tool, gets its result with the whole conversation, and goes on", async () => {
      provider.answerOnce(providers[format].calls("weather", { city: "Oslo" }), providers[format].says("It rains."));
      const input: Input = [{ role: "user", content: "Weather in Oslo?" }];
      const first = await client.responses.stream({ model, input, tools: [weather], store: false }).finalResponse();
      expect(first.output.map(({ type }) => type)).toEqual(["message", "function_call"]);
      const call = first.output.find((item) => item.type === "function_call");
      expect(JSON.parse(call?.arguments ?? "")).toEqual({ city: "Oslo" });
      input.push(...(first.output as Input), { type: "function_call_output", call_id: call?.call_id ?? "", output: "rain" });
      const before = provider.calls.length;
      const last = await client.responses.create({ model, input, tools: [weather], store: false });
      expect(last.output_text).toBe("It rains.");
      expect(provider.calls[before]?.rawBody).toContain("rain");
      expect(provider.calls[before]?.rawBody).toContain("I look. ");
    });

    test("has the client's custom tool and namespace, whatever it knows of them itself", async () => {
      const custom = { type: "custom" as const, name: "apply_patch", description: "Patches" };
      const clock = {
        type: "namespace" as const,
        name: "clock",
        description: "Time",
        tools: [{ ...weather, name: "sleep" }],
      };
      provider.answerOnce(providers[format].calls("clock__sleep", { ms: 1 }));
      const slept = await client.responses.create({ model, input: "Wait", tools: [custom, clock] });
      expect(slept.output.at(-1)).toMatchObject({ type: "function_call", name: "sleep", namespace: "clock" });
      if (format === "responses") return;
      provider.answerOnce(providers[format].calls("apply_patch", { input: "*** Begin Patch" }));
      const patched = await client.responses.stream({ model, input: "Patch", tools: [custom, clock] }).finalResponse();
      expect(patched.output.at(-1)).toMatchObject({ type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch" });
    });

    test("follows a schema, which the package parses", async () => {
      provider.answerOnce(providers[format].says('{"city":"Oslo"}'));
      const schema = {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      };
      const read = await client.responses.parse({
        model,
        input: "Which city?",
        text: { format: { type: "json_schema", name: "city", strict: true, schema } },
      });
      expect<unknown>(read.output_parsed).toEqual({ city: "Oslo" });
    });
  });
}

describe("a model that thinks before it calls a tool gets its thought back, and shows it to the client", () => {
  const encrypted = `${Buffer.from("?>".repeat(20)).toString("base64url")}==`;
  const signature = Buffer.from("signed").toString("base64");
  const call = { id: "call_a", type: "function", function: { name: "weather", arguments: "{}" } };
  const thinkers: [string, FormatProvider, StubAnswer, (sent: string) => void][] = [
    [
      "thoughts/adaptive",
      "claude",
      message("", {
        thoughts: [{ type: "thinking", thinking: "I look.", signature }],
        calls: [{ id: "toolu_a", name: "weather", input: {} }],
      }),
      (sent) => expect(sent).toContain(JSON.stringify({ type: "thinking", thinking: "I look.", signature }).slice(1, -1)),
    ],
    [
      "thoughts/responses",
      "responses",
      response("", { summary: ["I look."], encrypted, calls: [{ call_id: "call_a", name: "weather", arguments: "{}" }] }),
      (sent) => expect(sent).toContain(`"encrypted_content":"${encrypted}"`),
    ],
    [
      "thoughts/other",
      "other",
      (answer, asked) =>
        asked.streamed
          ? stream([
              chunk({ reasoning_content: "I look." }),
              chunk({ tool_calls: [{ index: 0, ...call }] }),
              chunk({}, "tool_calls"),
            ])(answer, asked)
          : json(
              completion({ role: "assistant", content: null, reasoning_content: "I look.", tool_calls: [call] }, "tool_calls"),
            )(answer, asked),
      (sent) => expect(sent).toContain('"reasoning_content":"I look."'),
    ],
  ];

  test.each(thinkers)("%s", async (model, format, thinks, expectSent) => {
    const provider = (await formatsStage()).stub(format);
    for (const streamed of [false, true]) {
      provider.answerOnce(thinks, providers[format].says("It rains."));
      const input: Input = [{ role: "user", content: "Weather?" }];
      const asked = { model, input, tools: [weather], reasoning: { effort: "high" as const }, store: false as const };
      const first = await (streamed ? client.responses.stream(asked).finalResponse() : client.responses.create(asked));
      expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
      expect(first.output[0]).toMatchObject({ summary: [{ type: "summary_text", text: "I look." }] });
      const made = first.output.find((item) => item.type === "function_call");
      input.push(...(first.output as Input), {
        type: "function_call_output",
        call_id: made?.type === "function_call" ? made.call_id : "",
        output: "rain",
      });
      const before = provider.calls.length;
      expect((await client.responses.create({ ...asked, input })).output_text).toBe("It rains.");
      expectSent(provider.calls[before]?.rawBody ?? "");
    }
  });
});

describe("the sandbox", () => {
  const model = "sandbox/echo";

  test("streams events that the package puts together, piece by piece", async () => {
    const events = [];
    for await (const event of await client.responses.create({ model, input: "Hello there", stream: true })) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const deltas = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe("Hello there");
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("stops at the bound, which is charged", async () => {
    const answer = await client.responses.create({ model, input: "Hello there", max_output_tokens: 1 });
    expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(answer.usage?.output_tokens).toBe(1);
    await expectExactLedger(fleet.operator(), customer, { credit, generations: 1 });
  });

  test("fails a stream by its last event, which the package throws or returns", async () => {
    const events = [];
    const input = "sandbox: tokens=9 break_after=3";
    for await (const event of await client.responses.create({ model, input, stream: true })) events.push(event);
    expect(events.filter(({ type }) => /completed|failed|incomplete|error$/.test(type)).map(({ type }) => type)).toEqual([
      "response.failed",
    ]);
    expect(events.at(-1)).toMatchObject({ response: { status: "failed", error: { code: "server_error" } } });
    await expectExactLedger(fleet.operator(), customer, { credit, generations: 1 });
  });

  test("refuses in the package's own errors", async () => {
    const stored = await thrownBy(client.responses.create({ model, input: "Hi", store: true }));
    expect(stored).toMatchObject({ status: 400, code: "unsupported_parameter", param: "store" });
    const kept = await thrownBy(client.responses.retrieve("resp_1"));
    expect(kept).toMatchObject({ status: 404, code: "not_found" });
    const unknown = await thrownBy(client.responses.create({ model: "acme/none", input: "Hi" }));
    expect(unknown).toMatchObject({ status: 404, code: "model_not_found" });
  });
});
