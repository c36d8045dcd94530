/** The official package of Messages and its helpers, with only address and key changed, on every wire format. */
import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { Value } from "@sinclair/typebox/value";
import { TokenCountBody } from "../../../src/gateway/api/count-tokens.ts";
import { ModelForBoth } from "../../../src/gateway/api/models.ts";
import { report, scripted, weatherTool } from "../../frameworks/scripted-model.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { officialCount, officialModelInfo } from "./anthropic-types.ts";
import { modelOf, stage } from "../stage.ts";
import { first, upstreams } from "../upstreams.ts";

const messages = [{ role: "user" as const, content: "Hello" }];
const max_tokens = 300;

let fleet: Fleet;

beforeAll(async () => {
  ({ fleet } = await stage("embedded"));
}, 90_000);

const clientOf = ({ keys }: Customer): Anthropic =>
  new Anthropic({ authToken: keys[0]?.key ?? "", apiKey: null, baseURL: `${fleet.url()}/gpt`, maxRetries: 0 });

async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Anthropic.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}

describe.each(upstreams)("a model behind $name", ({ name: format, whole, streams }) => {
  let client: Anthropic;
  let stub: ProviderStub;
  const model = modelOf(format);
  const text = first(whole, ({ expected }) => expected?.finishReason === "stop" && !!expected.content && !!expected.usage);
  const textStream = first(streams, (one) => one.finishReason === "stop" && one.text !== "" && one.usage !== null);
  const callStream = first(streams, (one) => one.finishReason === "tool_calls");
  const broken = first(streams, (one) => one.failure !== null && one.finishReason === null && one.text !== "");

  beforeAll(async () => {
    stub = (await stage("embedded")).stub(format);
    client = clientOf(await fleet.operator().customer({ credit: "10" }));
  });

  test("the package gets a whole message, and the id of its request", async () => {
    stub.answerOnce(text.answer);
    const message = await client.messages.create({ model, max_tokens, messages });
    const said = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    expect(said).toBe(text.expected?.content ?? "");
    expect(message).toMatchObject({ model, role: "assistant", stop_reason: "end_turn" });
    expect(message._request_id).toMatch(/^req-/);
  });

  test("the package assembles a stream, with the counts at its end", async () => {
    stub.answerOnce(textStream.answer);
    const stream = client.messages.stream({ model, max_tokens, messages });
    const final = await stream.finalMessage();
    expect(await stream.finalText()).toBe(textStream.text);
    const { usage } = final;
    expect(usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)).toBe(
      textStream.usage?.promptTokens ?? 0,
    );
  });

  test("the package assembles the calls of a stream", async () => {
    stub.answerOnce(callStream.answer);
    const tools = callStream.toolCalls.map(({ name }) => ({ name, input_schema: { type: "object" as const } }));
    const final = await client.messages.stream({ model, max_tokens, messages, tools }).finalMessage();
    const calls = final.content.flatMap((block) => (block.type === "tool_use" ? [{ name: block.name, input: block.input }] : []));
    expect(calls).toEqual(
      callStream.toolCalls.map(({ name, arguments: args }) => ({ name, input: JSON.parse(args || "{}") as unknown })),
    );
    expect(final.stop_reason).toBe("tool_use");
  });

  test.each([false, true])(
    "the package's runner of tools goes on without a thread, to its end (streamed: %p)",
    async (stream) => {
      stub.answerOnce(...Array.from({ length: 2 }, () => scripted[format] ?? text.answer));
      const callsBefore = stub.calls.length;
      const asked: unknown[] = [];
      const weather = betaTool({
        name: weatherTool,
        description: "Tells the weather",
        inputSchema: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
          additionalProperties: false,
        },
        run: ({ city }: { city: string }) => {
          asked.push(city);
          return "7 degrees";
        },
      });
      const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: [weather], stream });
      const final = await runner.runUntilDone();
      expect(asked).toEqual(["Oslo", "Rome"]);
      expect(final.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(report.summary);
      expect(stub.calls).toHaveLength(callsBefore + 2);
    },
  );

  test("the package throws when a stream breaks, after the text that had arrived", async () => {
    stub.answerOnce(broken.answer);
    let arrived = "";
    const stream = client.messages.stream({ model, max_tokens, messages }).on("text", (more) => (arrived += more));
    const error = await thrownBy(stream.done());
    expect(error.error).toMatchObject({ type: "error", error: { type: "api_error", code: "upstream_error" } });
    expect(arrived).toBe(broken.text);
  });
});

test("the package counts the tokens of a prompt, lists the models by pages and finds one", async () => {
  const client = clientOf(await fleet.operator().customer({ credit: "1" }));
  const counted: unknown = await client.messages.countTokens({ model: "sandbox/echo", messages });
  if (!Value.Check(TokenCountBody, counted)) throw new Error("No count");
  expect(officialCount(counted).input_tokens).toBeGreaterThan(0);
  const ids: string[] = [];
  for await (const model of client.models.list({ limit: 2 })) {
    const listed: unknown = model;
    if (!Value.Check(ModelForBoth, listed)) throw new Error("No model");
    ids.push(officialModelInfo(listed).id);
  }
  expect(ids).toEqual((await client.models.list({ limit: 1_000 })).data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain("sandbox/echo");
  expect(await client.models.retrieve("model")).toMatchObject({ id: "anthropic/model", type: "model" });
});

describe("errors", () => {
  test("of a field that this version of the API refuses", async () => {
    const client = clientOf(await fleet.operator().customer({ credit: "1" }));
    const error = await thrownBy(
      client.messages.create({ model: "sandbox/echo", max_tokens, messages, temperature: 1 } as never),
    );
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error.error).toMatchObject({ error: { param: "temperature", code: "unsupported_parameter" } });
  });

  test("that a retry cannot mend are not tried again, however many retries the client allows", async () => {
    const made = await fleet.operator().customer({ credit: "0.000001" });
    let calls = 0;
    const client = new Anthropic({
      authToken: made.keys[0]?.key ?? "",
      apiKey: null,
      baseURL: `${fleet.url()}/gpt`,
      maxRetries: 3,
      fetch: (url, init) => {
        calls++;
        return fetch(url, init);
      },
    });
    const error = await thrownBy(client.messages.create({ model: "sandbox/echo", max_tokens, messages }));
    expect([error.status, calls]).toEqual([402, 1]);
    expect((await thrownBy(client.messages.create({ model: "none/such", max_tokens, messages }))).status).toBe(404);
    expect(calls).toBe(2);
    await expectExactLedger(fleet.operator(), made, { credit: "0.000001", generations: 0 });
  });

  test("of an unknown key, sent as older packages do", async () => {
    const client = new Anthropic({ apiKey: "sk-ant-other", authToken: null, baseURL: `${fleet.url()}/gpt`, maxRetries: 2 });
    expect(await thrownBy(client.messages.create({ model: "sandbox/echo", max_tokens, messages }))).toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
  });
});
